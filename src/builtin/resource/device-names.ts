// Names of devices, pools, requests and attributes, and lists and maps of limited size, as all kinds of the group check them.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkCIdentifier, checkDnsLabel, checkDnsSubdomain } from '../../meta/object/names.js'
import { objectAt, objectsAt, stringsAt } from '../../meta/values/access.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkDriverName } from '../common/driver-name.js'
import { checkText } from '../common/field-checks.js'

export const checkLabel = (name: string, path: string): FieldError[] => checkText(name, checkDnsLabel, path)

/** A label that must be there. */
export const checkRequiredLabel = (name: string, path: string): FieldError[] =>
  name === '' ? [fieldRequired(path)] : checkLabel(name, path)

const MAX_POOL_NAME = 253

/** One or more DNS subdomains, separated by slashes. */
export function checkPoolName(name: string, path: string): FieldError[] {
  if (name === '') return [fieldRequired(path)]
  const tooLong = Buffer.byteLength(name) > MAX_POOL_NAME ? [fieldTooLong(path, MAX_POOL_NAME)] : []
  return [...tooLong, ...name.split('/').flatMap(part => checkText(part, checkDnsSubdomain, path))]
}

const MAX_IDENTIFIER = 32

function checkIdentifier(name: string, path: string): FieldError[] {
  const tooLong = Buffer.byteLength(name) > MAX_IDENTIFIER ? [fieldTooLong(path, MAX_IDENTIFIER)] : []
  return [...tooLong, ...checkText(name, checkCIdentifier, path)]
}

/** The name of an attribute or a capacity: an identifier, with or without a domain. More than one slash is not checked. */
export function checkAttributeName(name: string, path: string): FieldError[] {
  const [first = '', second, ...more] = name.split('/')
  if (second === undefined) return checkIdentifier(first, path)
  if (more.length > 0) return []
  return [
    ...(first === '' ? [fieldInvalid(path, '', 'the domain must not be empty')] : checkDriverName(first, path)),
    ...(second === '' ? [fieldInvalid(path, '', 'the name must not be empty')] : checkIdentifier(second, path)),
  ]
}

/** The same with a domain. */
export const checkFullAttributeName = (name: string, path: string): FieldError[] => [
  ...checkAttributeName(name, path),
  ...(name.includes('/')
    ? []
    : [fieldInvalid(path, name, 'a fully qualified name must be a domain and a name separated by a slash')]),
]

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const UUID_FORM =
  'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters'

/** The forms in which a UUID can be written, by their lengths; only one of them is allowed. */
const OTHER_FORMS: Readonly<Record<number, RegExp>> = {
  32: /^[0-9a-f]{32}$/i,
  36: UUID,
  38: /^.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}.$/is,
  45: /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
}

export function checkShareId(id: string, path: string): FieldError[] {
  const form = OTHER_FORMS[Buffer.byteLength(id)]
  const invalid = (why: string): FieldError[] => [fieldInvalid(path, id, why)]
  if (form === undefined) return invalid(`error validating uid: invalid UUID length: ${Buffer.byteLength(id)}`)
  if (!form.test(id)) return invalid('error validating uid: invalid UUID format')
  return UUID.test(id) && id === id.toLowerCase() ? [] : invalid(UUID_FORM)
}

// ---- lists and maps

type CheckItem = (item: ValueObject, path: string) => FieldError[]

/** How many items a list of the group may have, where nothing else is said. */
export const MAX_ITEMS = 32

/** A list that is too long is reported as such, and its items are not looked at. */
export function checkItems(
  object: ValueObject,
  field: string,
  path: string,
  check: CheckItem,
  max = MAX_ITEMS,
): FieldError[] {
  const items = objectsAt(object, field)
  const at = childPath(path, field)
  if (items.length > max) return [fieldTooMany(at, items.length, max)]
  return items.flatMap((item, i) => check(item, indexPath(at, i)))
}

export interface SetOptions {
  readonly max?: number
  /** What must differ between the items, and what the message about a repeated one shows. */
  readonly keyOf: (item: ValueObject) => string
}

/** The same for a list whose items must differ in their keys. */
export function checkSet(
  object: ValueObject,
  field: string,
  path: string,
  check: CheckItem,
  { max = MAX_ITEMS, keyOf }: SetOptions,
): FieldError[] {
  const items = objectsAt(object, field)
  const errors = checkItems(object, field, path, check, max)
  if (items.length > max) return errors
  return [...errors, ...duplicatesOf(items.map(keyOf), childPath(path, field))]
}

/** A set of strings. */
export function checkStringSet(
  object: ValueObject,
  field: string,
  path: string,
  check: (text: string, path: string) => FieldError[],
  max = MAX_ITEMS,
): FieldError[] {
  const texts = stringsAt(object, field)
  const at = childPath(path, field)
  if (texts.length > max) return [fieldTooMany(at, texts.length, max)]
  return [...texts.flatMap((text, i) => check(text, indexPath(at, i))), ...duplicatesOf(texts, at)]
}

export function duplicatesOf(keys: readonly string[], path: string): FieldError[] {
  return [...repeatsOf(keys)].map(i => fieldDuplicate(indexPath(path, i), keys[i]))
}

/** A map: the errors of keys are at the map itself, those of values at the key. */
export function checkMap(
  object: ValueObject,
  field: string,
  path: string,
  checks: { readonly key: (key: string, path: string) => FieldError[]; readonly value?: CheckItem; max?: number },
): FieldError[] {
  const map = objectAt(object, field)
  const keys = Object.keys(map)
  const at = childPath(path, field)
  if (checks.max !== undefined && keys.length > checks.max) return [fieldTooMany(at, keys.length, checks.max)]
  const checkEntry = (key: string): FieldError[] =>
    checks.key(key, at).concat(checks.value?.(objectAt(map, key), `${at}[${shortened(key)}]`) ?? [])
  return keys.flatMap(checkEntry)
}

/** A key of a domain and an identifier. Longer ones lose their middle in messages. */
const MAX_SHOWN_KEY = 63 + 1 + 32

function shortened(key: string): string {
  if (key.length <= MAX_SHOWN_KEY) return key
  const left = MAX_SHOWN_KEY - '...'.length
  return `${key.slice(0, Math.floor((left + 1) / 2))}...${key.slice(key.length - Math.floor(left / 2))}`
}
