import { describe, expect, test } from 'vitest'
import type { ValueObject } from '../../../../meta/values/value.js'
import { errorsOf } from '../../../written-objects.suite.js'

const container = { name: 'c', image: 'i' }
const errorsOfPod = (spec: ValueObject): string[] =>
  errorsOf('v1', 'Pod', { spec: { containers: [container], ...spec } }).map(error => error.replace(/^spec\./, ''))
const errorsOfContainer = (over: ValueObject, spec: ValueObject = {}): string[] =>
  errorsOfPod({ containers: [{ ...container, ...over }], ...spec }).map(error =>
    error.replace(/^containers\[0\]\./, ''),
  )

describe('volumes of a container', () => {
  const volumes = [
    { name: 'v', emptyDir: {} },
    { name: 'p', persistentVolumeClaim: { claimName: 'x' } },
  ]
  test.each<[ValueObject, string[]]>([
    [{ volumeDevices: [{ name: 'p', devicePath: '/dev/x' }] }, []],
    [
      { volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] },
      [
        'volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      ],
    ],
    [{ volumeDevices: [{ name: 'q', devicePath: '/dev/x' }] }, ['volumeDevices[0].name: Not found: "q"']],
    [
      { volumeDevices: [{ name: 'p', devicePath: '/dev/../x' }] },
      [`volumeDevices[0].devicePath: Invalid value: "/dev/../x": can not contain backsteps ('..')`],
    ],
    [
      { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'x', subPathExpr: 'y' }] },
      ['volumeMounts[0].subPathExpr: Invalid value: "y": subPathExpr and subPath are mutually exclusive'],
    ],
    [
      { volumeMounts: [{ name: 'v', mountPath: '/a', recursiveReadOnly: 'Enabled' }] },
      ['volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true'],
    ],
  ])('%j', (over, expected) => {
    expect(errorsOfContainer(over, { volumes })).toEqual(expected)
  })
})

describe('restarts', () => {
  test.each<[ValueObject, string[]]>([
    [{ restartPolicy: 'Never' }, []],
    [
      { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] },
      ['restartPolicy: Required value: must specify restartPolicy when restart rules are used'],
    ],
    [
      { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart' }] },
      ['restartPolicyRules[0].exitCodes: Required value: must be specified'],
    ],
    [
      { resizePolicy: [{ resourceName: 'disk', restartPolicy: 'NotRequired' }] },
      ['resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"'],
    ],
  ])('%j', (over, expected) => {
    expect(errorsOfContainer(over)).toEqual(expected)
  })
})

test('claims of devices are those of the pod', () => {
  const resources = { claims: [{ name: 'a' }] }
  const resourceClaims = [{ name: 'a', resourceClaimName: 'x' }]
  expect(errorsOfContainer({ resources }, { resourceClaims })).toEqual([])
  expect(errorsOfContainer({ resources })).toEqual([
    'resources.claims[0]: Not found: "a": must be one of the names in pod.spec.resourceClaims which is empty',
  ])
  expect(errorsOfPod({ resourceClaims: [{ name: 'a' }] })).toEqual([
    'resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
  ])
})

test('each operating system forbids options of the other', () => {
  const windowsOptions = { runAsUserName: 'a' }
  expect(errorsOfPod({ os: { name: 'linux' }, securityContext: { windowsOptions } })).toEqual([
    'securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod',
  ])
  expect(errorsOfPod({ os: { name: 'windows' }, hostPID: true, securityContext: { windowsOptions } })).toEqual([
    'hostPID: Forbidden: cannot be set for a windows pod',
  ])
  expect(errorsOfPod({ securityContext: { windowsOptions: { runAsUserName: 'a\\b\\c' } } })).toEqual([
    'securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash',
  ])
})

test('huge pages come whole, and with cpu or memory', () => {
  const limits = { 'hugepages-2Mi': '3Mi' }
  expect(errorsOfContainer({ resources: { limits, requests: limits } })).toEqual([
    'resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
    'resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
    'resources: Forbidden: HugePages require cpu or memory',
  ])
})
