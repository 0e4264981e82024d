// Definitions of apiextensions.k8s.io/v1beta1, applied unchanged.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { createKubectl, createKubectlHome, type Kubectl, kubectlMissing } from './kubectl-process.js'

const OLD = `apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata:
  name: crontabs.stable.example.com
spec:
  group: stable.example.com
  version: v1
  scope: Namespaced
  names: {plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct]}
  subresources: {status: {}}
  validation:
    openAPIV3Schema:
      properties:
        spec:
          required: [cronSpec]
          properties:
            cronSpec: {type: string, pattern: '^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$'}
  additionalPrinterColumns:
  - {name: Spec, type: string, JSONPath: .spec.cronSpec}
`
const cronTab = (name: string, spec: string): string => `apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: ${name}}
spec: ${spec}
`
const WARNING =
  'Warning: apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated in v1.16+; use apiextensions.k8s.io/v1 CustomResourceDefinition\n'
const OLDER = 'customresourcedefinitions.v1beta1.apiextensions.k8s.io'
const NEWER = 'customresourcedefinitions.v1.apiextensions.k8s.io'
const NAME = 'crontabs.stable.example.com'

describe.skipIf(kubectlMissing())('old definitions', () => {
  const home = createKubectlHome()
  let server: BinnacleProcess
  let kubectl: Kubectl
  beforeAll(async () => {
    server = await startBinnacleProcess('--runtime-config=apiextensions.k8s.io/v1beta1=true')
    kubectl = createKubectl(home.path, server.kubeconfig, 'default')
  })
  afterAll(async () => {
    await server.kill()
    home.remove()
  })

  test('are applied, served, returned in both versions and changed in either', async () => {
    const { run, says, complains, file } = kubectl
    const definition = file('old.yaml', OLD)
    const done = (what: string) => ({
      code: 0,
      stdout: `customresourcedefinition.apiextensions.k8s.io/${NAME} ${what}\n`,
      stderr: WARNING,
    })
    expect(await run('apply', '-f', definition)).toEqual(done('created'))
    expect(await run('apply', '-f', definition)).toEqual(done('unchanged'))
    expect((await says('api-versions')).split('\n').filter(each => each.startsWith('apiextensions'))).toEqual([
      'apiextensions.k8s.io/v1',
      'apiextensions.k8s.io/v1beta1',
    ])

    const show = async (form: string, path: string) => (await run('get', form, NAME, '-o', `jsonpath={${path}}`)).stdout
    expect(await show(OLDER, '.spec.additionalPrinterColumns[0].JSONPath')).toBe('.spec.cronSpec')
    expect(await show(OLDER, '.spec.versions')).toBe('[{"name":"v1","served":true,"storage":true}]')
    expect(await show(NEWER, '.spec.versions[0].additionalPrinterColumns[0].jsonPath')).toBe('.spec.cronSpec')
    expect(await show(NEWER, '.spec.versions[0].schema.openAPIV3Schema.properties.spec.required')).toBe('["cronSpec"]')
    expect(await show(NEWER, '.status.conditions[?(@.type=="NonStructuralSchema")].reason')).toBe('Violations')

    await says('create', '-f', file('a.yaml', cronTab('a', '{cronSpec: "* * * * */5", extra: {b: [1]}}')))
    expect(await says('get', 'ct')).toBe('NAME   SPEC\na      * * * * */5')
    expect(await says('get', 'ct', 'a', '-o', 'jsonpath={.spec.extra}')).toBe('{"b":[1]}')
    expect(await complains('create', '-f', file('b.yaml', cronTab('b', '{cronSpec: x}')))).toContain(
      'The CronTab "b" is invalid: spec.cronSpec: Invalid value: "x"',
    )

    const patch = '{"spec":{"additionalPrinterColumns":[{"name":"Extra","type":"string","JSONPath":".spec.extra.b"}]}}'
    expect(await run('patch', OLDER, NAME, '--type=merge', '-p', patch)).toEqual(done('patched'))
    expect(await says('get', 'ct')).toBe('NAME   EXTRA\na      [1]')
    await says('label', NEWER, NAME, 'kept=yes')
    expect(await run('apply', '--server-side', '--force-conflicts', '-f', definition)).toEqual(
      done('serverside-applied'),
    )
    expect(await says('get', 'ct')).toBe('NAME   SPEC\na      * * * * */5')
    expect(await show(OLDER, '.metadata.labels')).toBe('{"kept":"yes"}')
  })

  test('are not served unless the version is enabled', async () => {
    const other = await startBinnacleProcess()
    try {
      const plain = createKubectl(home.path, other.kubeconfig, 'default')
      expect(await plain.complains('apply', '-f', plain.file('old.yaml', OLD))).toContain(
        'no matches for kind "CustomResourceDefinition" in version "apiextensions.k8s.io/v1beta1"',
      )
    } finally {
      await other.kill()
    }
  })
})
