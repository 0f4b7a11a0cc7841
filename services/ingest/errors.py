"""What can be wrong with a file, each with its reason on the wire (`rpc/v1/error_reason.proto`)."""

from __future__ import annotations

from chassis.errors import Conflict, InvalidInput, NotFound


class DocumentError(InvalidInput):
    """A file that cannot be ingested. The old version, if there is one, keeps answering."""

    code = "INVALID_ARGUMENT"


class DocumentEncrypted(DocumentError):
    """The file cannot be opened without a password."""

    reason = "DOCUMENT_ENCRYPTED"


class DocumentCorrupt(DocumentError):
    """The file is broken or cut off."""

    reason = "DOCUMENT_CORRUPT"


class DocumentUnreadable(DocumentError):
    """Pages show something, but none has a text layer."""

    reason = "DOCUMENT_UNREADABLE"


class DocumentEmpty(DocumentError):
    """The file holds no text at all."""

    reason = "DOCUMENT_EMPTY"


class DocumentFormatMismatch(DocumentError):
    """The content is not what the extension says."""

    reason = "DOCUMENT_FORMAT_MISMATCH"


class DocumentFormatUnsupported(DocumentError):
    """The extension is none that ingest reads."""

    reason = "DOCUMENT_FORMAT_UNSUPPORTED"


class DocumentEncoding(DocumentError):
    """Text that is not UTF-8 and says in no other way how its bytes are to be read."""

    reason = "DOCUMENT_ENCODING"


class DocumentTooLarge(DocumentError):
    """Beyond a limit of `ParsingLimits` or `IngestSettings.max_document_bytes`."""

    reason = "DOCUMENT_TOO_LARGE"


class DocumentHashMismatch(DocumentError):
    """The bytes do not hash to what the header announced."""

    reason = "DOCUMENT_HASH_MISMATCH"


class DocumentParserFailed(DocumentError):
    """Reading the file took longer or more memory than allowed, or crashed the parser."""

    reason = "DOCUMENT_PARSER_FAILED"


class DocumentConflict(Conflict):
    """Another upload of the same document runs now."""

    reason = "DOCUMENT_CONFLICT"


class DocumentNotFound(NotFound):
    """The document is not indexed."""

    reason = "DOCUMENT_NOT_FOUND"


class PageNotFound(NotFound):
    """The document has no page of this number."""

    reason = "PAGE_NOT_FOUND"


READING_ERRORS: dict[str, type[DocumentError]] = {
    error.reason: error
    for error in (
        DocumentEncrypted,
        DocumentCorrupt,
        DocumentUnreadable,
        DocumentEmpty,
        DocumentFormatMismatch,
        DocumentEncoding,
        DocumentTooLarge,
        DocumentParserFailed,
    )
}
"""What a parser may report, by reason: the child process sends the reason, the service raises the error."""
