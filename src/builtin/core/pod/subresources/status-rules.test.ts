import { expect, test } from 'vitest'
import { printFieldError } from '../../../../meta/errors/field-errors.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkPodStatus, podStatusWarnings } from './status-rules.js'

const spec: ValueObject = {
  restartPolicy: 'Never',
  containers: [
    { name: 'c', resources: { requests: { 'example.com/gpu': '1' } } },
    {
      name: 'again',
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [7] } }],
    },
  ],
  resourceClaims: [{ name: 'claim' }],
}
const errorsOf = (status: ValueObject, old: ValueObject = {}): string[] =>
  checkPodStatus({ spec, status }, { spec, status: old }).map(printFieldError)

test.each<[ValueObject, string[]]>([
  [{ conditions: [{ type: 'Ready' }, { type: 'example.com/x' }] }, []],
  [
    { conditions: [{ type: 'a b', observedGeneration: -1 }] },
    ['status.conditions[0].observedGeneration', 'conditions[0].Type'],
  ],
  [{ qosClass: 'Burstable' }, ['status.qosClass: Invalid value: "Burstable": field is immutable']],
  [{ hostIPs: [{ ip: '10.0.0.1' }] }, ['status.hostIPs[0].ip: Invalid value: "10.0.0.1": must be equal to `hostIP`']],
  [{ podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }, ['status.podIPs: Invalid value: [{"IP":"10.0.0.1"}']],
  [{ podIPs: [{ ip: '10.0.0.1' }, { ip: '::1' }] }, []],
  [{ resourceClaimStatuses: [{ name: 'other' }] }, ['must match the name of an entry in `spec.resourceClaims`']],
  [{ extendedResourceClaimStatus: {} }, ['requestMappings: Required', 'resourceClaimName: Required']],
  [
    { containerStatuses: [{ name: 'c', user: { linux: { uid: -1, gid: 0 } } }] },
    ['status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  ],
  [
    {
      containerStatuses: [{ name: 'c', allocatedResourcesStatus: [{ name: 'claim:x' }, { name: 'example.com/gpu' }] }],
    },
    ['allocatedResourcesStatus[0].name: Invalid value: "claim:x": must match one of the container\'s resource claims'],
  ],
])('%j', (status, errors) => {
  expect(errorsOf(status)).toEqual(errors.map(error => expect.stringContaining(error)))
})

test('a container that has ended runs again only if it is restarted', () => {
  const ended = (exitCode: number): ValueObject => ({ terminated: { exitCode } })
  const status = (name: string, state: ValueObject): ValueObject => ({ containerStatuses: [{ name, state }] })
  const refused = ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state']
  expect(errorsOf(status('c', { running: {} }), status('c', ended(0)))).toEqual(refused)
  expect(errorsOf(status('again', { running: {} }), status('again', ended(1)))).toEqual(refused)
  expect(errorsOf(status('again', { running: {} }), status('again', ended(7)))).toEqual([])
})

test('addresses that are not canonical have a warning', () => {
  expect(podStatusWarnings({ status: { podIPs: [{ ip: '0:0::1' }] } })).toEqual([
    'status.podIPs[0].ip: IPv6 address "0:0::1" should be in RFC 5952 canonical format ("::1")',
  ])
})
