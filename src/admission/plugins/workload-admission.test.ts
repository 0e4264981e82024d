import { expect, test } from 'vitest'
import { builtinKinds } from '../../builtin/builtin-kinds.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { builtinTypes } from '../../types/type-table.js'
import { type AdmissionRequest } from '../attributes.js'
import { workloadPlugins } from './workload-admission.js'

const kind = builtinKinds(builtinTypes()).find(({ names }) => names.kind === 'Pod')!
const RANGE: ApiObject = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'r' },
  spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] },
}
const NAMESPACE: ApiObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'x', labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } },
}

const pod = (cpu: string, image = 'i'): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { hostPID: true, containers: [{ name: 'c', image, resources: { limits: { cpu } } }] },
})

/** What the plugin has against it that a pod changes by one of its paths. */
async function refusalOf(plugin: string, subresource: string, object: ApiObject): Promise<string> {
  const plugins = workloadPlugins({
    find: async () => NAMESPACE,
    all: async of => (of.kind === 'LimitRange' ? [RANGE] : []),
  })
  const request: AdmissionRequest = {
    operation: 'UPDATE',
    target: { kind, version: kind.versions[0]!, namespace: 'x', name: 'p', subresource },
    object,
    old: pod('1'),
    options: { dryRun: false, fieldManager: '', fieldValidation: '' },
    user: { name: 'test', uid: '', groups: [], extra: {}, userAgent: '' },
  }
  const { validate } = plugins.find(({ name }) => name === plugin)!
  return validate!(request, []).then(
    () => '',
    (error: Error) => error.message,
  )
}

test('limits hold for pods that are resized, and not for other changes', async () => {
  expect(await refusalOf('LimitRanger', 'resize', pod('2'))).toMatch(
    /maximum cpu usage per Container is 1, but limit is 2/,
  )
  expect(await refusalOf('LimitRanger', 'resize', pod('1'))).toBe('')
  expect(await refusalOf('LimitRanger', 'status', pod('2'))).toBe('')
})

test('pod security looks at changes of what a pod runs, by whatever path', async () => {
  const violation = 'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)'
  expect(await refusalOf('PodSecurity', '', pod('1', 'other'))).toBe(violation)
  expect(await refusalOf('PodSecurity', 'ephemeralcontainers', pod('1', 'other'))).toBe(violation)
  expect(await refusalOf('PodSecurity', 'status', pod('1', 'other'))).toBe('')
  expect(await refusalOf('PodSecurity', 'resize', pod('2'))).toBe('')
})
