"""Lists of words with which names of companies and people are told from other words, lower-case."""

from __future__ import annotations


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


COMPANY_FORMS = _listed("""
    inc incorporated llc ltd limited plc corp corporation co company lp llp lllp gmbh ag kg kgaa se sa sas
    sarl spa srl bv nv ab oy oyj aps asa kk kft pty pte pvt bhd sdn ulc ltda eeig
""")

LINKS = _listed("a an and at by de for from in of on or the to under with")
"""Words in small letters that a name goes on over."""

DETERMINERS = _listed("the our my your their this that its")
"""Words before what a question calls one certain document."""

AGREEMENT_NOUNS = _listed("""
    agreement agreements contract contracts deal deals lease leases licence license licences licenses nda
    ndas msa msas sow sows amendment amendments addendum addenda arrangement arrangements alliance
    collaboration franchise partnership sponsorship
""")
"""What a person calls an agreement."""

DOCUMENT_NOUNS = AGREEMENT_NOUNS | _listed("""
    policy policies engagement subscription settlement loan terms order mou
""")
"""What a person calls a document or what it agrees on."""

TOLD_BY_NOUNS = _listed("""
    fee fees price prices term terms period periods year years date dates key keys rights holder holders
    area territory number numbers product products royalty royalties payment payments deposit revenue tax
""")
"""What may be told by such a noun before it: `the licence fee`."""

VERSIONS = _listed("""
    additional amended applicable binding current definitive entire existing final first following initial
    main new old original other prior related relevant restated same second signed third underlying whole
""")
"""Words before such a noun that tell versions of a document, and no document from others."""

GENERIC = DOCUMENT_NOUNS | _listed("""
    account additional administration administrative advertising advisor advisory affiliate affiliates
    agency agent alliances amended america american ancillary annex appendix application article
    assignment association attachment authority bank banking bankruptcy binding board bond bonds brand
    branding bridge broker brokerage business buyer buyout capital card care carrier center central centre
    chair channel chapter charter city class clause client club collaboration college commercial
    commission committee common communication communications community companies competition computer
    conditions confidential confidentiality construction consultancy consultant consultants consulting
    consumer content contractor cooperation corporate council counterparty country county court credit
    currency custody customer customers data dealer debt deed default delivery department design developer
    development digital direct director directors disclosing disclosure distribution distributor division
    document documents domestic donor edition education electric electronic employee employees employer
    employment end endorsement energy engineering enterprise enterprises entities entity environmental
    equipment equity escrow estate europe european event exchange exclusive executive exhibit exploration
    export facility federal finance financial financing firm first food foods foundation framework
    franchisee franchisees franchising franchisor fund funding funds gas general global gold good goods
    government grant group guarantee guarantor guaranty health healthcare holding holdings home hospital
    hosting hotel hotels house import income indemnified indemnity india industrial industries industry
    information infrastructure initial institute institution insurance insurer intellectual interactive
    interim internal international internet investment investments investor investors issuer joint king
    laboratories labs land landlord law legal lender lessee lessor letter liability licencee licencor
    licensee licensing licensor life line liquidated local logistics main maintenance management manager
    manual manufacturer manufacturing maritime market marketing master material materials media medical
    member members memorandum merchant merger mining mobile money mortgage motor mutual national natural
    net network networks new non north note notes notice offering office oil online operating operations
    operator option original outsourcing owner parent participant parties partner partners party patent
    payment pension personnel petroleum pharma pharmaceutical pharmaceuticals plan plant platform pledge
    port power preferred premium president price prime principal private processing processor procurement
    product production products professional program programme project promoter promotion promotional
    properties property provider public publisher publishers publishing purchase purchaser quality queen
    racing railway real receiving recipient records registration reinsurance related renewal rental repair
    research reseller resellers residential resources restated retail retailer revolving right rights
    river robotics royal royalty sale sales savings schedule school science second section secured
    securities security seller sellers senior separation series service servicer services servicing share
    shareholder shareholders shares shipper shipping side site social society software solar solution
    solutions south special specialty sponsor sponsorship standard state statement states stock
    stockholder storage store strategic street studio studios subcontract subcontracting subcontractor
    subject sublicense sublicensee subscriber subsidiary supplement supplemental supplier suppliers supply
    support surgical syndicate system systems talent target team tech technical technologies technology
    telecom television tenant term territory third title trade trademark trading training transaction
    transfer transition transport transportation travel treasury trust trustee underwriter underwriting
    union united university user utilities utility vehicle vendor vendors venture ventures vice video
    virtual voting waiver warehouse warranty water web webpage website wholesale wireless work works world
    worldwide year years
""")
"""Words that contracts use of anybody: alone, or only with one another, they name nobody."""

NEVER_NAMES = _listed("""
    january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec q1 q2 q3 q4
    christmas easter thanksgiving ramadan
    english french german spanish italian dutch swiss chinese japanese korean indian russian canadian
    mexican brazilian australian irish scottish british israeli swedish danish norwegian finnish polish
    turkish greek portuguese belgian austrian african asian latin arabic islamic eurozone africa
    antarctica asia oceania
    afghanistan alabama alaska albania alberta algeria amsterdam andorra angola argentina arizona arkansas
    armenia aruba athens atlanta australia austria azerbaijan bahamas bahrain bangkok bangladesh barbados
    barcelona beijing belarus belgium belize berlin bermuda bolivia boston botswana brazil britain brunei
    brussels bulgaria california cambodia cameroon canada carolina cayman chicago chile china colombia
    colorado columbia congo connecticut croatia cuba curacao cyprus czechia dakota dallas delaware denmark
    denver detroit dubai dublin ecuador edinburgh egypt england estonia ethiopia fiji finland florida
    france frankfurt geneva georgia germany ghana gibraltar greece guatemala guernsey guyana haiti hamburg
    hampshire hawaii helsinki honduras houston hungary iceland idaho illinois indiana indonesia iowa iran
    iraq ireland israel istanbul italy jakarta jamaica japan jersey johannesburg jordan kansas kazakhstan
    kentucky kenya korea kuwait lagos latvia lebanon libya liechtenstein lisbon lithuania london louisiana
    luxembourg macau madagascar madrid maine malaysia malta manchester manitoba maryland massachusetts
    mauritius melbourne mexico miami michigan milan minnesota mississippi missouri moldova monaco mongolia
    montana montenegro montreal morocco moscow mozambique mumbai munich myanmar nairobi namibia nebraska
    nepal netherlands nevada nicaragua niger nigeria norway ohio oklahoma oman ontario oregon oslo
    pakistan palestine panama paraguay paris pennsylvania peru philadelphia philippines phoenix poland
    portugal prague puerto qatar quebec rhode romania rome russia rwanda samoa saskatchewan scotland
    seattle senegal seoul serbia shanghai shenzhen singapore slovakia slovenia somalia spain stockholm
    sudan suriname sweden switzerland sydney syria taiwan tanzania tennessee texas thailand tokyo toronto
    tunisia turkey uganda ukraine uruguay utah uzbekistan vancouver venezuela vermont vienna vietnam
    virginia wales warsaw washington wisconsin wyoming yemen york zambia zimbabwe zurich
    ai aifm aml api apis arr aws b2b b2c bafin bitcoin brexit bribery btw capex cco ccpa ceo cfo cif cisg
    clo coi coo cpa cpi cpr crm cro cso ctd cto ddp dmca doj dpa dpo dr ebit ebitda eea erisa esg eta eu
    eur euribor euro euros fca fcpa fda fedex finra fob foia fx fy gaap gbp gcp gdpr gmp hipaa hr hsr http
    i iata icc icdr id ifrs incoterms ip ipo ipr irs isda iso it itar ito jams kpi kpis kyc lcia libor mac
    mae miss moq mr mrs ms msrp nafta nasdaq ndc nyse oecd oem ofac ok opex osha otc pc pci pcs pdf pii
    pin plc po pos ppi ppm pr prof qa rfp rfq roi roth rtp saas sec sem seo siac sir sku skus sla slas soc
    sofr sox swift tba tbd tcpa tos ucc ucp uk un uncitral unidroit url us usa usd vat vp w9 xml zip
""")
"""Times, places, languages, and short forms of laws, offices and trade: no document is named by them."""
