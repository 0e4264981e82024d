// Validation of config maps, secrets and namespaces.
import { describe, expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { errorsOf, errorsOfChange } from '../written-objects.suite.js'

const KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
const IMMUTABLE = 'Forbidden: field is immutable when `immutable` is set'

test.each<[ValueObject, string[]]>([
  [{ data: { a: '1' }, binaryData: { b: 'AA==' } }, []],
  [{ data: { 'a/b': 'v' } }, [`data[a/b]: Invalid value: "a/b": ${KEY_RULE}`]],
  [{ data: { '..': 'v' } }, [`data[..]: Invalid value: "..": must not be '..'`]],
  [
    { data: { same: 'v' }, binaryData: { same: 'AA==' } },
    ['data[same]: Invalid value: "same": duplicate of key present in binaryData'],
  ],
  [{ data: { a: 'x'.repeat(1024 * 1024) } }, []],
  [{ data: { a: 'x'.repeat(1024 * 1024), b: 'x' } }, ['[]: Too long: may not be more than 1048576 bytes']],
])('a config map (%#)', (map, errors) => {
  expect(errorsOf('v1', 'ConfigMap', map)).toEqual(errors)
})

test.each<[ValueObject, string[]]>([
  [{ data: { a: '2' } }, [`data: ${IMMUTABLE}`]],
  [{ binaryData: { b: 'AA==' } }, [`binaryData: ${IMMUTABLE}`]],
  [{ immutable: false }, [`immutable: ${IMMUTABLE}`]],
  [{ metadata: { labels: { a: 'b' } } }, []],
])('an immutable config map changed by %j', (patch, errors) => {
  expect(errorsOfChange('v1', 'ConfigMap', { immutable: true, data: { a: '1' } }, patch)).toEqual(errors)
})

describe('secrets', () => {
  test.each<[ValueObject, string[]]>([
    [{ type: 'kubernetes.io/tls' }, ['data[tls.crt]: Required value', 'data[tls.key]: Required value']],
    [{ type: 'kubernetes.io/basic-auth' }, ['data[username]: Required value', 'data[password]: Required value']],
    [{ type: 'kubernetes.io/basic-auth', stringData: { username: 'u' } }, []],
    [{ type: 'kubernetes.io/ssh-auth' }, ['data[ssh-privatekey]: Required value']],
    [{ type: 'kubernetes.io/dockerconfigjson' }, ['data[.dockerconfigjson]: Required value']],
    [
      { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '{' } },
      ['data[.dockercfg]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'],
    ],
    [
      { type: 'kubernetes.io/service-account-token' },
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
    [{ type: 'example.com/own' }, []],
  ])('%j', (secret, errors) => {
    expect(errorsOf('v1', 'Secret', secret)).toEqual(errors)
  })

  test('the type of a secret cannot change', () => {
    expect(errorsOfChange('v1', 'Secret', {}, { type: 'a/b' })).toEqual([
      'type: Invalid value: "a/b": field is immutable',
    ])
  })
})

describe('namespaces', () => {
  test.each<[ValueObject, string[]]>([
    [{ metadata: { name: 'with.dot' } }, ['metadata.name: Invalid value: "with.dot": must not contain dots']],
    [
      { spec: { finalizers: ['nodomain'] } },
      [
        'spec.finalizers: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
    [
      { metadata: { finalizers: ['nodomain'] } },
      [
        'metadata.finalizers[0]: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
    [{ spec: { finalizers: ['example.com/a'] } }, []],
    [
      { metadata: { labels: { 'pod-security.kubernetes.io/warn': 'odd' } } },
      [
        'metadata.labels[pod-security.kubernetes.io/warn]: Invalid value: "odd": must be one of privileged, baseline, restricted',
      ],
    ],
  ])('%j', (namespace, errors) => {
    expect(errorsOf('v1', 'Namespace', namespace)).toEqual(errors)
  })

  test('a namespace that is not being deleted must be active', () => {
    expect(errorsOfChange('v1', 'Namespace', {}, { status: { phase: 'Terminating' } }, 'status')).toEqual([
      'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
    ])
  })
})

test('an update reports errors of metadata both in the object and in the change', () => {
  const references = { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n' }] } }
  expect(errorsOfChange('v1', 'ConfigMap', {}, references)).toEqual([
    'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
  ])
})
