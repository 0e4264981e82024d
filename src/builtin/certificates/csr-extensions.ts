// The extensions that a PKCS #10 request asks for: each once, and with names of which every signer reads the same.
import {
  checkBoolean,
  contentOf,
  DerError,
  type Element,
  fieldsOf,
  idOf,
  itemsOf,
  sequenceOf,
  TAG,
} from './der-reader.js'

/** The object identifier of such an attribute, with its tag and length. */
const EXTENSION_REQUEST = Buffer.from('06092a864886f70d01090e', 'hex')
const ALTERNATIVE_NAMES = '551d11'

/** Throws a DerError. */
export function checkExtensions(attributes: Element): void {
  const seen = new Set<string>()
  for (const attribute of itemsOf(attributes)) {
    for (const { id, value } of extensionsOf(attribute)) {
      if (seen.has(id)) throw new DerError('x509: certificate request contains duplicate requested extensions')
      seen.add(id)
      if (id === ALTERNATIVE_NAMES) checkAlternativeNames(value)
    }
  }
}

interface Extension {
  readonly id: string
  readonly value: Element
}

/** Attributes that ask for something else are of no concern. */
function extensionsOf(attribute: Element): Extension[] {
  const { tag, bytes, start } = attribute
  if (tag !== TAG.sequence) return []
  if (!bytes.subarray(start, start + EXTENSION_REQUEST.length).equals(EXTENSION_REQUEST)) return []
  const [, values] = fieldsOf(attribute, [TAG.id, TAG.set])
  const [list] = itemsOf(values!)
  return list ? itemsOf(sequenceOf(list), TAG.sequence).map(readExtension) : []
}

function readExtension(extension: Element): Extension {
  const [id, second] = fieldsOf(extension, [TAG.id, undefined])
  if (second!.tag !== TAG.boolean) {
    const [, value] = fieldsOf(extension, [TAG.id, TAG.octets])
    return { id: idOf(id!), value: value! }
  }
  checkBoolean(second!)
  const [, , value] = fieldsOf(extension, [TAG.id, TAG.boolean, TAG.octets])
  return { id: idOf(id!), value: value! }
}

const NAMES = { email: 0x81, dns: 0x82, uri: 0x86, address: 0x87 }
const TEXT_NAMES: ReadonlyMap<number, string> = new Map([
  [NAMES.email, 'rfc822Name'],
  [NAMES.dns, 'dNSName'],
  [NAMES.uri, 'uniformResourceIdentifier'],
])

function checkAlternativeNames(value: Element): void {
  for (const name of alternativeNames(value)) {
    const [{ tag }, content] = [name, contentOf(name)]
    const type = TEXT_NAMES.get(tag)
    if (type !== undefined && content.some(byte => byte >= 0x80)) throw new DerError(`x509: SAN ${type} is malformed`)
    if (tag === NAMES.address && content.length !== 4 && content.length !== 16) {
      throw new DerError(`x509: cannot parse IP address of length ${content.length}`)
    }
  }
}

function alternativeNames(value: Element): Element[] {
  let list: Element
  try {
    list = fieldsOf(value, [TAG.sequence])[0]!
  } catch {
    throw new DerError('x509: invalid subject alternative names')
  }
  try {
    return itemsOf(list)
  } catch {
    throw new DerError('x509: invalid subject alternative name')
  }
}
