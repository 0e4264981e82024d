// Validation rules for names: of objects, labels, annotations, finalizers and other names in the API.
// A rule returns the reasons why a name is invalid, in kube-apiserver's words; none if it is valid.
import { type IdGenerator, NAME_SUFFIX_LENGTH } from './ids.js'

export type NameRule = (name: string) => string[]

// ---- DNS names

/** A DNS label (RFC 1123): `my-name`, `123-abc`. */
export function checkDnsLabel(name: string): string[] {
  const errors = tooLong(name, DNS_LABEL_MAX, 'characters')
  if (!isDnsLabel(name)) {
    errors.push(
      isDnsSubdomain(name)
        ? 'must not contain dots'
        : regexError(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            LABEL_1123,
            'my-name',
            '123-abc',
          ),
    )
  }
  return errors
}

/** A DNS label that begins with a letter (RFC 1035): `my-name`, `abc-123`. */
export function checkDns1035Label(name: string): string[] {
  const errors = tooLong(name, DNS_LABEL_MAX, 'characters')
  if (!isDnsLabel(name) || !/^[a-z]/.test(name)) {
    errors.push(
      regexError(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        LABEL_1035,
        'my-name',
        'abc-123',
      ),
    )
  }
  return errors
}

/** A DNS subdomain (RFC 1123), the rule for most object names: `example.com`. */
export const checkDnsSubdomain: NameRule = name => dnsSubdomainErrors(name, 'characters')

/** The same in upper case, too: `Example.com`. */
export function checkDnsSubdomainAnyCase(name: string): string[] {
  const errors = tooLong(name, DNS_SUBDOMAIN_MAX, 'bytes')
  if (!isDnsSubdomain(name.toLowerCase())) {
    const why =
      "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
    errors.push(regexError(why, SUBDOMAIN, 'Example.com'))
  }
  return errors
}

/** A DNS subdomain whose labels may begin with or contain an underscore: `_tcp.example.com`. */
export function checkDnsSubdomainWithUnderscore(name: string): string[] {
  const errors = tooLong(name, DNS_SUBDOMAIN_MAX, 'characters')
  const isValid = name.split('.').every(label => hasShape(label.replace(/^_/, ''), /[^-_a-z0-9]/, /[a-z0-9]/))
  if (!isValid) {
    const label = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
    errors.push(
      regexError(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
        `${label}(\\.${label})*`,
        'example.com',
      ),
    )
  }
  return errors
}

/** `*.example.com` */
export function checkWildcardDnsSubdomain(name: string): string[] {
  const errors = tooLong(name, DNS_SUBDOMAIN_MAX, 'characters')
  if (!name.startsWith('*.') || !isDnsSubdomain(name.slice(2))) {
    errors.push(
      regexError(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
        `\\*\\.${SUBDOMAIN}`,
        '*.example.com',
      ),
    )
  }
  return errors
}

// ---- keys and values of labels

/** A label key; finalizers and condition types have the same format: `app`, `example.com/app`. */
export function checkQualifiedName(key: string): string[] {
  if (PLAIN_NAME.test(key)) return []
  const parts = key.split('/', 3)
  if (parts.length > 2) {
    return [
      `a valid label key ${LABEL_KEY_ERROR} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const [prefix, name] = parts.length === 1 ? [undefined, parts[0]!] : [parts[0]!, parts[1]!]
  const errors: string[] = []
  if (prefix === '') errors.push('prefix part must be non-empty')
  else if (prefix !== undefined)
    errors.push(...dnsSubdomainErrors(prefix, 'bytes').map(error => `prefix part ${error}`))
  if (name === '') errors.push('name part must be non-empty')
  else errors.push(...tooLong(name, LABEL_MAX, 'bytes').map(error => `name part ${error}`))
  if (!isLabelText(name)) errors.push(`name part ${LABEL_KEY_ERROR}`)
  return errors
}

/** The usual keys and values: valid, and without a prefix. */
const PLAIN_NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

export function checkLabelValue(value: string): string[] {
  if (PLAIN_NAME.test(value)) return []
  const errors = tooLong(value, LABEL_MAX, 'bytes')
  if (value !== '' && !isLabelText(value)) {
    errors.push(
      regexError(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        `(${LABEL_KEY_TEXT})?`,
        'MyValue',
        'my_value',
        '12345',
      ),
    )
  }
  return errors
}

/** Annotation keys follow the rule of label keys, except that their case is ignored. */
export const checkAnnotationKey: NameRule = key => checkQualifiedName(key.toLowerCase())

/** The maximum total size of all annotation keys and values of an object, in bytes. */
export const ANNOTATIONS_MAX = 256 * 1024

export function annotationsSize(annotations: Readonly<Record<string, string>>): number {
  let size = 0
  for (const key of Object.keys(annotations)) size += Buffer.byteLength(key) + Buffer.byteLength(annotations[key]!)
  return size
}

// ---- names in paths

/** Rules for a path segment. `prefix`: it is the beginning of a name, as a generateName. */
export function checkPathSegment(name: string, prefix = false): string[] {
  const errors: string[] = []
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`]
  for (const part of ['/', '%']) if (name.includes(part)) errors.push(`may not contain '${part}'`)
  return errors
}

// ---- other names

/** Keys of a ConfigMap or Secret, which become file names. */
export function checkConfigKey(key: string): string[] {
  const errors = tooLong(key, DNS_SUBDOMAIN_MAX, 'characters')
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    errors.push(
      regexError(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        '[-._a-zA-Z0-9]+',
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    )
  }
  return [...errors, ...leadingDots(key)]
}

/** A C identifier: `my_name`, `MyName`. */
export const checkCIdentifier: NameRule = name =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
    ? []
    : [
        regexError(
          "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
          '[A-Za-z_][A-Za-z0-9_]*',
          'my_name',
          'MY_NAME',
          'MyName',
        ),
      ]

/** `10%` */
export const checkPercent: NameRule = text =>
  /^[0-9]+%$/.test(text)
    ? []
    : [regexError("a valid percent string must be a numeric string followed by an ending '%'", '[0-9]+%', '1%', '93%')]

/** Port names of a container or service: `http`, `admin-2`. */
export function checkPortName(name: string): string[] {
  const errors = tooLong(name, 15, 'characters')
  if (!/^[-a-z0-9]+$/.test(name)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  }
  if (!/[a-z]/.test(name)) errors.push('must contain at least one letter (a-z)')
  if (name.includes('--')) errors.push('must not contain consecutive hyphens')
  if (name.startsWith('-') || name.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

// ---- generated names

/**
 * The rule for a generateName: that of the generated name. A trailing dash is valid because more characters follow;
 * kube-apiserver skips it together with the character before it.
 */
export const checkGenerateName = (rule: NameRule, base: string): string[] =>
  rule(base.length > 1 && base.endsWith('-') ? `${base.slice(0, -2)}a` : base)

/** A name that begins with `base`, cut so that the name fits a DNS label, and ends in a suffix. */
export const generateName = (base: string, { nameSuffix }: IdGenerator): string =>
  base.slice(0, DNS_LABEL_MAX - NAME_SUFFIX_LENGTH) + nameSuffix()

// ---- formats and messages

const DNS_LABEL_MAX = 63
const DNS_SUBDOMAIN_MAX = 253
const LABEL_MAX = 63

// The regular expressions in messages. Names are checked by the functions below, which are linear in the input.
const LABEL_1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL_1123}(\\.${LABEL_1123})*`
const LABEL_KEY_TEXT = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

const isDnsLabel = (text: string): boolean => hasShape(text, /[^-a-z0-9]/, /[a-z0-9]/)
const isDnsSubdomain = (text: string): boolean => text.split('.').every(isDnsLabel)
const isLabelText = (text: string): boolean => hasShape(text, /[^-A-Za-z0-9_.]/, /[A-Za-z0-9]/)

/** Not empty, without characters that are not allowed, and with allowed first and last characters. */
const hasShape = (text: string, notAllowed: RegExp, end: RegExp): boolean =>
  text !== '' && !notAllowed.test(text) && end.test(text[0]!) && end.test(text.at(-1)!)

const LABEL_KEY_ERROR = regexError(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  LABEL_KEY_TEXT,
  'MyName',
  'my.name',
  '123-abc',
)

function dnsSubdomainErrors(name: string, unit: 'bytes' | 'characters'): string[] {
  const errors = tooLong(name, DNS_SUBDOMAIN_MAX, unit)
  if (!isDnsSubdomain(name)) {
    errors.push(
      regexError(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        SUBDOMAIN,
        'example.com',
      ),
    )
  }
  return errors
}

/** Lengths are counted in bytes, even if the message says characters. */
const tooLong = (name: string, max: number, unit: 'bytes' | 'characters'): string[] =>
  Buffer.byteLength(name) > max ? [`must be no more than ${max} ${unit}`] : []

/** `<message> (e.g. 'a',  or 'b', regex used for validation is '…')`, with the two spaces of the original. */
function regexError(error: string, regex: string, ...examples: string[]): string {
  return `${error} (e.g. ${examples.map(example => `'${example}', `).join(' or ')}regex used for validation is '${regex}')`
}

function leadingDots(name: string): string[] {
  if (name === '.' || name === '..') return [`must not be '${name}'`]
  return name.startsWith('..') ? ["must not start with '..'"] : []
}
