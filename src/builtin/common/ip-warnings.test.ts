import { expect, test } from 'vitest'
import { cidrWarnings, ipWarnings } from './ip-warnings.js'

test.each([
  ['10.0.0.1', []],
  ['::1', []],
  ['010.0.0.1', ['p: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"']],
  ['::ffff:1.2.3.4', ['p: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"']],
  ['0:0::1', ['p: IPv6 address "0:0::1" should be in RFC 5952 canonical format ("::1")']],
])('an address: %s', (address, warnings) => {
  expect(ipWarnings(address, 'p')).toEqual(warnings)
})

test.each([
  ['10.0.0.0/8', []],
  [
    '10.0.0.1/8',
    ['p: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)'],
  ],
  ['010.1.0.0/16', ['p: non-standard CIDR value "010.1.0.0/16" is invalid: use "10.1.0.0/16"']],
  ['10.1.0.0/016', ['p: non-standard CIDR value "10.1.0.0/016" is invalid: use "10.1.0.0/16"']],
  [
    '2001:db8:0::/64',
    ['p: IPv6 CIDR value "2001:db8:0::/64" should be in RFC 5952 canonical format ("2001:db8::/64")'],
  ],
])('a range: %s', (range, warnings) => {
  expect(cidrWarnings(range, 'p')).toEqual(warnings)
})
