// The formats of texts, by name. The expressions here are ours and are written so that no text makes them slow.
import { checkDnsLabel, checkDnsSubdomain } from '../../meta/object/names.js'
import { readDuration } from '../../meta/values/duration-format.js'
import type { ValueChecks } from '../structure/structural.js'
import { isCidr, isIpv4, isIpv6, isMac } from './address-formats.js'
import { isEmail } from './email-format.js'
import { isRequestUri } from './uri-format.js'

export type Format = (text: string) => boolean

/** The check for a format that is known for texts. Hyphens in its name count for nothing. */
export const findFormat = (name: string): Format | undefined => TEXT_FORMATS.get(name.replaceAll('-', ''))

const INTEGER_FORMATS: ReadonlySet<string> = new Set(['int32', 'int64'])
const FLOAT_FORMATS: ReadonlySet<string> = new Set(['float', 'double'])

/** Whether a format applies to values of that type; without a type, to any value. */
export function isKnownFormat(type: string, format: string): boolean {
  switch (type) {
    case 'string':
      return findFormat(format) !== undefined
    case 'integer':
      return INTEGER_FORMATS.has(format)
    case 'number':
      return FLOAT_FORMATS.has(format)
    case '':
      return findFormat(format) !== undefined || INTEGER_FORMATS.has(format) || FLOAT_FORMATS.has(format)
    default:
      return false
  }
}

/** Whether values are checked against a format. One that is not for their type (without a type: for texts) is ignored. */
export function isChecked(
  types: readonly string[],
  { format, formatOfAnyType }: Pick<ValueChecks, 'format' | 'formatOfAnyType'>,
): boolean {
  if (formatOfAnyType) return true
  return types.length === 1 ? isKnownFormat(types[0]!, format) : findFormat(format) !== undefined
}

function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text) ?? []
  if (year === '' || month < '01' || month > '12' || day < '01') return false
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  return date.getUTCDate() === Number(day)
}

/** What comes behind a second `t` counts for nothing. */
function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t', 2)
  const found = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[^\n][0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/.exec(time)
  return isDate(date) && found !== null && found[1]! <= '23' && found[2]! <= '59' && found[3]! <= '59'
}

/** One label with at most one hyphen, or a domain whose last label is letters only. */
function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false
  const labels = text.split('.')
  if (labels.some(label => Buffer.byteLength(label) > 63)) return false
  if (labels.length === 1) return /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u.test(text)
  const top = labels.pop()!
  return (
    /^[a-zA-Z\p{L}]{2,63}$/u.test(top) &&
    labels.every(label => /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u.test(label))
  )
}

const uuid = (version: string, variant: string): Format => {
  const form = new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i')
  return text => form.test(text)
}

const ANY_DIGIT = '[0-9a-f]'
const VARIANT = '[89ab]'

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]))
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '')
  if (!/^[0-9]{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i])
  return Number(digits[12]) === (10 - (sum % 10)) % 10
}

const CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(?:222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}|6[27][0-9]{14})$/

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '')
  if (!CARD.test(digits)) return false
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const doubled = i % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

const BYTE = '(?:0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])'
const RGB = new RegExp(`^rgb\\(\\s*${BYTE}\\s*,\\s*${BYTE}\\s*,\\s*${BYTE}\\s*\\)$`)

const matching =
  (form: RegExp): Format =>
  text =>
    form.test(text)

const TEXT_FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['date', isDate],
  ['datetime', isDateTime],
  ['duration', text => readDuration(text) !== undefined],
  ['email', isEmail],
  ['uri', isRequestUri],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', uuid(ANY_DIGIT, ANY_DIGIT)],
  ['uuid3', uuid('3', ANY_DIGIT)],
  ['uuid4', uuid('4', VARIANT)],
  ['uuid5', uuid('5', VARIANT)],
  ['byte', text => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)],
  ['password', () => true],
  ['bsonobjectid', matching(/^[0-9a-fA-F]{24}$/)],
  ['isbn', text => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', matching(/^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$/)],
  ['hexcolor', matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', matching(RGB)],
  ['k8sshortname', text => checkDnsLabel(text).length === 0],
  ['k8slongname', text => checkDnsSubdomain(text).length === 0],
])
