import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { RANDOM_IDS } from './ids.js'
import {
  annotationsSize,
  checkAnnotationKey,
  checkCIdentifier,
  checkConfigKey,
  checkDns1035Label,
  checkDnsLabel,
  checkDnsSubdomain,
  checkGenerateName,
  checkLabelValue,
  checkPathSegment,
  checkPercent,
  checkPortName,
  checkQualifiedName,
  checkWildcardDnsSubdomain,
  generateName,
  type NameRule,
} from './names.js'

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const LABEL_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const KEY =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

const rules: Record<string, NameRule> = {
  checkDnsLabel,
  checkDns1035Label,
  checkDnsSubdomain,
  checkWildcardDnsSubdomain,
  checkQualifiedName,
  checkLabelValue,
  checkAnnotationKey,
  checkConfigKey,
  checkPathSegment: name => checkPathSegment(name),
  checkCIdentifier,
  checkPercent,
  checkPortName,
}

describe('valid names', () => {
  test.each([
    ['checkDnsLabel', ['a', '0', 'my-name', '123-abc', 'a--b', 'x'.repeat(63)]],
    ['checkDns1035Label', ['a', 'my-name', 'abc-123']],
    ['checkDnsSubdomain', ['a', 'example.com', 'a.b.c-d', '0.1', `${'a'.repeat(251)}.b`]],
    ['checkWildcardDnsSubdomain', ['*.example.com', '*.a']],
    ['checkQualifiedName', ['a', 'A.b_c-d', 'example.com/App', `${'a'.repeat(253)}/${'b'.repeat(63)}`]],
    ['checkLabelValue', ['', 'a', 'X_y.z-0', 'v'.repeat(63)]],
    ['checkAnnotationKey', ['Upper.COM/Key', 'b']],
    ['checkConfigKey', ['a', 'tls.key', '.hidden', 'A_b-c', '...a'.slice(2)]],
    ['checkPathSegment', ['a', 'a.b', '...', 'A b']],
    ['checkCIdentifier', ['_a', 'MyName']],
    ['checkPercent', ['0%', '93%']],
    ['checkPortName', ['http', 'admin-2']],
  ])('%s', (rule, names) => {
    expect(names.flatMap(name => rules[rule]!(name))).toEqual([])
  })
})

describe('invalid names', () => {
  test.each<[string, string, string[]]>([
    ['checkDnsLabel', 'a.b', ['must not contain dots']],
    ['checkDnsLabel', 'A', [LABEL]],
    ['checkDnsLabel', '', [LABEL]],
    ['checkDnsLabel', 'x'.repeat(64), ['must be no more than 63 characters']],
    ['checkDnsLabel', '-'.repeat(64), ['must be no more than 63 characters', LABEL]],
    ['checkDns1035Label', '1a', [LABEL_1035]],
    ['checkDnsSubdomain', 'a..b', [SUBDOMAIN]],
    ['checkDnsSubdomain', '-a', [SUBDOMAIN]],
    ['checkDnsSubdomain', 'a.', [SUBDOMAIN]],
    ['checkDnsSubdomain', 'ä', [SUBDOMAIN]],
    ['checkDnsSubdomain', 'a\n', [SUBDOMAIN]],
    ['checkDnsSubdomain', 'a'.repeat(254), ['must be no more than 253 characters']],
    ['checkQualifiedName', '', ['name part must be non-empty', `name part ${KEY}`]],
    ['checkQualifiedName', 'a/', ['name part must be non-empty', `name part ${KEY}`]],
    ['checkQualifiedName', '/a', ['prefix part must be non-empty']],
    ['checkQualifiedName', 'a b', [`name part ${KEY}`]],
    ['checkQualifiedName', 'Upper.com/a', [`prefix part ${SUBDOMAIN}`]],
    ['checkQualifiedName', 'k'.repeat(64), ['name part must be no more than 63 bytes']],
    ['checkQualifiedName', `${'a'.repeat(254)}/b`, ['prefix part must be no more than 253 bytes']],
    [
      'checkQualifiedName',
      'a/b/c',
      [`a valid label key ${KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
    ],
    ['checkLabelValue', 'b c', [VALUE]],
    ['checkLabelValue', '-a', [VALUE]],
    ['checkLabelValue', 'v'.repeat(64), ['must be no more than 63 bytes']],
    ['checkAnnotationKey', '_a', [`name part ${KEY}`]],
    ['checkConfigKey', '.', ["must not be '.'"]],
    ['checkConfigKey', '..x', ["must not start with '..'"]],
    [
      'checkConfigKey',
      'spa ce',
      [
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ],
    ],
    ['checkPathSegment', '..', ["may not be '..'"]],
    ['checkPathSegment', 'a/b%c', ["may not contain '/'", "may not contain '%'"]],
    [
      'checkPercent',
      'ten',
      [
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ],
    ],
    [
      'checkPortName',
      '--',
      [
        'must contain at least one letter (a-z)',
        'must not contain consecutive hyphens',
        'must not begin or end with a hyphen',
      ],
    ],
  ])('%s, case %#', (rule, name, errors) => {
    expect(rules[rule]!(name)).toEqual(errors)
  })
})

describe('generated names', () => {
  it('end in five random characters without vowels', () => {
    expect(generateName('abc-', RANDOM_IDS)).toMatch(/^abc-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  })

  test.each([57, 58, 59, 100])('begin with at most 58 characters, of %d', length => {
    expect(generateName('a'.repeat(length), RANDOM_IDS)).toHaveLength(Math.min(length, 58) + 5)
  })

  test.each([
    ['abc-', true],
    ['abc', true],
    ['A-', true], // kube-apiserver skips the character before the dash, too
    ['-', false],
    ['a.b.', false],
    ['a_', false],
  ])('a generateName of %s', (base, fine) => {
    expect(checkGenerateName(checkDnsSubdomain, base).length === 0).toBe(fine)
  })
})

it('counts annotations in bytes', () => {
  expect(annotationsSize({ ä: 'b', cd: '😀' })).toBe(9)
})

it('agrees with the regular expressions in the messages', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'B', '0', '-', '.', '_', '/', 'ä'), maxLength: 8 })
  const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
  const value = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
  fc.assert(
    fc.property(text, name => {
      expect(checkDnsSubdomain(name).length === 0).toBe(subdomain.test(name))
      expect(checkLabelValue(name).length === 0).toBe(value.test(name))
    }),
  )
})

it('checks very long names quickly', () => {
  const began = performance.now()
  for (const unit of ['a', 'a.', '-', 'a-', 'A']) {
    const name = unit.repeat(100_000)
    for (const rule of Object.values(rules)) rule(name)
  }
  expect(performance.now() - began).toBeLessThan(3000)
})
