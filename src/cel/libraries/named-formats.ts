// Formats by name: format.dns1123Label().validate(text) gives the errors of a text.

import { parseRequestUri } from '../../meta/go/go-url.js'
import {
  checkDns1035Label,
  checkDnsLabel,
  checkDnsSubdomain,
  checkGenerateName,
  checkLabelValue,
  checkQualifiedName,
  type NameRule,
} from '../../meta/object/names.js'
import { listOf, objectType, optionalOf, STRING } from '../check/cel-type.js'
import { fixed, REGEX_LENGTH, STRING_TRAVERSAL, scale, traversal } from '../cost/cost-intervals.js'
import type { Library } from '../environment.js'
import { parseTimestamp } from '../values/moments.js'
import { costSize, OPTIONAL_NONE, OpaqueValue, OptionalValue, type Value } from '../values/values.js'

const FORMAT_TYPE = objectType('kubernetes.NamedFormat')
/** The largest pattern that a format is taken to have. */
const MAX_PATTERN = 128

/** The longest name that a format is taken to have. */
const MAX_NAME = 64

interface NamedFormat {
  readonly name: string
  readonly check: NameRule
  /** The length of the pattern by which the cost of a check is computed. */
  readonly pattern: number
}

class FormatValue extends OpaqueValue {
  readonly type = FORMAT_TYPE
  constructor(readonly format: NamedFormat) {
    super()
  }
  equals(other: Value): boolean {
    return other instanceof FormatValue && other.format.name === this.format.name
  }
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/

const rule =
  (error: string, holds: (text: string) => boolean): NameRule =>
  text =>
    holds(text) ? [] : [error]

const FORMATS: readonly NamedFormat[] = [
  { name: 'dns1123Label', check: checkDnsLabel, pattern: 30 },
  { name: 'dns1123Subdomain', check: checkDnsSubdomain, pattern: 60 },
  { name: 'dns1035Label', check: checkDns1035Label, pattern: 30 },
  { name: 'qualifiedName', check: checkQualifiedName, pattern: 60 },
  { name: 'dns1123LabelPrefix', check: text => checkGenerateName(checkDnsLabel, text), pattern: 30 },
  { name: 'dns1123SubdomainPrefix', check: text => checkGenerateName(checkDnsSubdomain, text), pattern: 60 },
  { name: 'dns1035LabelPrefix', check: text => checkGenerateName(checkDns1035Label, text), pattern: 30 },
  { name: 'labelValue', check: checkLabelValue, pattern: 40 },
  {
    name: 'uri',
    check: text => {
      const read = parseRequestUri(text)
      return read.ok ? [] : [read.error]
    },
    pattern: 1226,
  },
  { name: 'uuid', check: rule('does not match the UUID format', text => UUID.test(text)), pattern: 86 },
  { name: 'byte', check: rule('invalid base64', text => BASE64.test(text)), pattern: 83 },
  {
    name: 'date',
    check: rule(
      'invalid date',
      text => /^\d{4}-\d{2}-\d{2}$/.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== undefined,
    ),
    pattern: 72,
  },
  { name: 'datetime', check: rule('invalid datetime', text => parseTimestamp(text) !== undefined), pattern: 72 },
]

const VALUES: ReadonlyMap<string, FormatValue> = new Map(FORMATS.map(format => [format.name, new FormatValue(format)]))

export const NAMED_FORMATS_LIBRARY: Library = {
  equalityCosts: { [FORMAT_TYPE.name]: () => traversal({ min: 1, max: MAX_NAME }) },
  functions: [
    ...FORMATS.map(({ name }) => ({
      name: `format.${name}`,
      overloads: [{ id: `format-${name}`, params: [], result: FORMAT_TYPE, call: () => VALUES.get(name)! }],
    })),
    {
      name: 'format.named',
      overloads: [
        {
          id: 'format-named',
          params: [STRING],
          result: optionalOf(FORMAT_TYPE),
          call: name => {
            const value = VALUES.get(name as string)
            return value ? new OptionalValue(value) : OPTIONAL_NONE
          },
          estimate: () => ({ cost: fixed(1) }),
        },
      ],
    },
    {
      name: 'validate',
      overloads: [
        {
          id: 'format-validate',
          member: true,
          params: [FORMAT_TYPE, STRING],
          result: optionalOf(listOf(STRING)),
          call: (format, text) => {
            const errors = (format as FormatValue).format.check(text as string)
            return errors.length === 0 ? OPTIONAL_NONE : new OptionalValue(errors)
          },
          cost: ([format, text], budget) =>
            Math.ceil((1 + costSize(text!, budget)) * STRING_TRAVERSAL) *
            Math.ceil((format as FormatValue).format.pattern * REGEX_LENGTH),
          estimate: ({ args: [text] }) => ({ cost: scale(traversal(text!.size), MAX_PATTERN * REGEX_LENGTH) }),
        },
      ],
    },
  ],
}
