// Server-side apply with kubectl against the executable: conflicts, migration from client-side apply, diffs, and field
// ownership. Each test has its own namespace.
import { describe, expect, test } from 'vitest'
import { type Kubectl, kubectlMissing } from './kubectl-process.js'
import { serverForKubectl } from './kubectl-server.js'

const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {colour: red, size: "1"}
`
const BLUE = CONFIG.replace('red', 'blue')
const WITHOUT_SIZE = CONFIG.replace(', size: "1"', '')

const SERVER_SIDE = ['apply', '--server-side', '-f'] as const
const APPLIED = 'configmap/settings serverside-applied'

describe.skipIf(kubectlMissing())('kubectl apply --server-side', () => {
  const { inside } = serverForKubectl()

  const dataOf = async ({ says }: Kubectl): Promise<unknown> =>
    JSON.parse(await says('get', 'configmap', 'settings', '-o', 'jsonpath={.data}'))

  /** The names of the managers with their operations. */
  const managersOf = async ({ says }: Kubectl): Promise<string[]> => {
    const each = '{range .metadata.managedFields[*]}{.manager} {.operation}{"\\n"}{end}'
    const text = await says('get', 'configmap', 'settings', '--show-managed-fields', '-o', `jsonpath=${each}`)
    return text.split('\n')
  }

  describe.concurrent('walks', { timeout: 30_000 }, () => {
    test('creates, changes nothing, changes, and removes fields that are no longer applied', async () => {
      const kubectl = await inside('walk')
      const { says, file } = kubectl
      const apply = (name: string, text: string) => says(...SERVER_SIDE, file(name, text))
      const version = () => says('get', 'configmap', 'settings', '-o', 'jsonpath={.metadata.resourceVersion}')
      expect(await apply('red.yaml', CONFIG)).toBe(APPLIED)
      const first = await version()
      expect(await apply('red.yaml', CONFIG)).toBe(APPLIED)
      expect(await version()).toBe(first)
      expect(await apply('blue.yaml', BLUE)).toBe(APPLIED)
      expect(await dataOf(kubectl)).toEqual({ colour: 'blue', size: '1' })
      expect(await apply('less.yaml', WITHOUT_SIZE)).toBe(APPLIED)
      expect(await dataOf(kubectl)).toEqual({ colour: 'red' })
      expect(await managersOf(kubectl)).toEqual(['kubectl Apply'])
    })

    test('reports conflicts, and overrides them by force', async () => {
      const kubectl = await inside('conflict')
      const { says, complains, file } = kubectl
      await says(...SERVER_SIDE, file('red.yaml', CONFIG))
      const blue = file('blue.yaml', BLUE)
      const complaint = await complains(...SERVER_SIDE, blue, '--field-manager=other')
      expect(complaint).toMatch(
        'error: Apply failed with 1 conflict: conflict with "kubectl": .data.colour\nPlease review the fields above',
      )
      expect(await dataOf(kubectl)).toMatchObject({ colour: 'red' })
      expect(await says(...SERVER_SIDE, blue, '--field-manager=other', '--force-conflicts')).toBe(APPLIED)
      expect(await dataOf(kubectl)).toMatchObject({ colour: 'blue' })
      expect((await managersOf(kubectl)).toSorted()).toEqual(['kubectl Apply', 'other Apply'])
      // A field of two managers stays when one of them stops applying it.
      await says(...SERVER_SIDE, file('less.yaml', WITHOUT_SIZE.replace('red', 'blue')))
      expect(await dataOf(kubectl)).toEqual({ colour: 'blue', size: '1' })
      await says(...SERVER_SIDE, file('other.yaml', WITHOUT_SIZE.replace('red', 'blue')), '--field-manager=other')
      expect(await dataOf(kubectl)).toEqual({ colour: 'blue' })
    })

    test('takes over the fields of client-side apply, and hands them back', async () => {
      const kubectl = await inside('migrate')
      const { says, file } = kubectl
      await says('apply', '-f', file('red.yaml', CONFIG))
      expect(await managersOf(kubectl)).toEqual(['kubectl-client-side-apply Update'])
      expect(await says(...SERVER_SIDE, file('less.yaml', WITHOUT_SIZE))).toBe(APPLIED)
      expect(await dataOf(kubectl)).toEqual({ colour: 'red' })
      const managers = await managersOf(kubectl)
      expect(managers).toContain('kubectl Apply')
      expect(managers).not.toContain('kubectl-client-side-apply Update')
      // Client-side apply continues from the annotation that server-side apply has updated.
      expect(await says('apply', '-f', file('blue.yaml', BLUE))).toBe('configmap/settings configured')
      expect(await dataOf(kubectl)).toEqual({ colour: 'blue', size: '1' })
      expect(await says('apply', '-f', file('blue.yaml', BLUE))).toBe('configmap/settings unchanged')
    })

    test('diff shows the changes of an apply without making them', async () => {
      const kubectl = await inside('diff')
      const { says, run, file } = kubectl
      const red = file('red.yaml', CONFIG)
      await says(...SERVER_SIDE, red)
      expect(await run('diff', '--server-side', '-f', red)).toMatchObject({ code: 0, stdout: '' })
      const { code, stdout } = await run('diff', '--server-side', '-f', file('blue.yaml', BLUE))
      expect(code).toBe(1)
      expect(stdout.split('\n').filter(line => /^[-+] /.test(line))).toEqual(['-  colour: red', '+  colour: blue'])
      const other = ['diff', '--server-side', '--field-manager=other', '-f', file('blue.yaml', BLUE)]
      expect((await run(...other)).stderr).toMatch('conflict with "kubectl": .data.colour')
      expect((await run(...other, '--force-conflicts')).code).toBe(1)
      expect(await dataOf(kubectl)).toMatchObject({ colour: 'red' })
      expect(await managersOf(kubectl)).toEqual(['kubectl Apply'])
    })

    test('get shows managedFields only on request', async () => {
      const { says, file } = await inside('show')
      await says(...SERVER_SIDE, file('red.yaml', CONFIG))
      expect(await says('get', 'configmap', 'settings', '-o', 'yaml')).not.toMatch('managedFields')
      expect(await says('get', 'configmap', 'settings', '-o', 'yaml', '--show-managed-fields')).toMatch(
        /managedFields:\n {2}- apiVersion: v1\n {4}fieldsType: FieldsV1\n {4}fieldsV1:\n {6}f:data:\n {8}f:colour: \{\}\n {8}f:size: \{\}\n {6}f:metadata:\n {8}f:labels:\n {10}f:app: \{\}\n {4}manager: kubectl\n {4}operation: Apply\n/,
      )
    })

    test('an apply conflicts with a manual scale', async () => {
      const { says, complains, file } = await inside('scale')
      const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`
      await says(...SERVER_SIDE, file('web.yaml', deployment))
      expect(await says('scale', 'deployment', 'web', '--replicas=3')).toBe('deployment.apps/web scaled')
      expect(await complains(...SERVER_SIDE, file('web.yaml', deployment))).toMatch(
        'conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas',
      )
      await says(...SERVER_SIDE, file('free.yaml', deployment.replace('  replicas: 1\n', '')))
      expect(await says('get', 'deployment', 'web', '-o', 'jsonpath={.spec.replicas}')).toBe('3')
    })
  })
})
