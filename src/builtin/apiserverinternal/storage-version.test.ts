import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { created, tableRowOf, validationOf } from '../written-objects.suite.js'

const KIND = ['internal.apiserver.k8s.io/v1alpha1', 'StorageVersion'] as const
const { create, status: validateStatus } = validationOf(...KIND, false)
const named = (name: string, status: ValueObject = {}): ValueObject => ({
  metadata: { name, resourceVersion: '1' },
  spec: {},
  status,
})
const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

test.each([
  ['apps.deployments', []],
  ['a', ['metadata.name: Invalid value: "a": name must be in the form of <group>.<resource>']],
  ['a.9b', [`metadata.name: Invalid value: "a.9b": the resource segment ${LABEL}`]],
])('the name %s', (name, errors) => {
  expect(create(named(name)).map(printFieldError)).toEqual(errors)
})

const server = (apiServerID: string, encodingVersion: string, ...decodableVersions: string[]): ValueObject => ({
  apiServerID,
  encodingVersion,
  ...(decodableVersions.length > 0 && { decodableVersions }),
})

test.each<[ValueObject, string[]]>([
  [{ commonEncodingVersion: 'v1', storageVersions: [server('x', 'v1', 'v1', 'v2'), server('y', 'v1', 'v1')] }, []],
  [
    { storageVersions: [server('x', 'v1', 'v1')] },
    ['status.commonEncodingVersion: Invalid value: null: the common encoding version is v1'],
  ],
  [
    { commonEncodingVersion: 'v2', storageVersions: [server('x', 'v1', 'v1')] },
    ['status.commonEncodingVersion: Invalid value: "v2": the actual common encoding version is v1'],
  ],
  [
    {
      storageVersions: [{ ...server('x', 'v1', 'v1', '/V'), servedVersions: ['v3'] }, server('x', 'apps/v1')],
    },
    [
      `status.storageVersions[0].decodableVersions[1]: Invalid value: "/V": group part: must be non-empty,version part: ${LABEL}`,
      'status.storageVersions[0].servedVersions[0]: Invalid value: "v3": individual served version : v3 must be included in decodableVersions : [v1 /V]',
      'status.storageVersions[1].apiServerID: Duplicate value: "x"',
      'status.storageVersions[1].decodableVersions: Invalid value: null: decodableVersions must include encodingVersion apps/v1',
    ],
  ],
  [
    {
      conditions: [
        { type: 'T', status: 'True' },
        { type: 'T', status: 'True', reason: 'R', message: 'm' },
      ],
    },
    [
      'status[0].reason: Required value',
      'status[0].message: Required value',
      'status[1].type: Invalid value: "T": the type of the condition is not unique, it also appears in conditions[0]',
    ],
  ],
])('the status %j', (status, errors) => {
  expect(validateStatus!(named('a.b', status), named('a.b')).map(printFieldError)).toEqual(errors)
})

test('a row shows up to three servers', () => {
  const row = tableRowOf(KIND[0], 'storageversions')
  expect(row(created(...KIND, named('a.b')), 0).slice(1, 3)).toEqual(['<unset>', '<unset>'])
  const servers = ['a', 'b', 'c', 'd'].map(id => server(id, 'v1', 'v1'))
  const status = { commonEncodingVersion: 'v1', storageVersions: servers }
  expect(row({ ...named('a.b'), status }, 0).slice(1, 3)).toEqual(['v1', 'a=v1,b=v1,c=v1 + 1 more...'])
})
