// Everyday use of kubectl against the executable. Each test has its own namespace.
import { describe, expect, test } from 'vitest'
import { kubectlMissing } from './kubectl-process.js'
import { serverForKubectl } from './kubectl-server.js'

const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {colour: red}
`
const BLUE = CONFIG.replace('red', 'blue')
const named = (name: string, text = CONFIG): string => text.replace('settings', name)

describe.skipIf(kubectlMissing())('kubectl', () => {
  const served = serverForKubectl()
  const { inside, anywhere } = served

  describe.concurrent('walks', { timeout: 30_000 }, () => {
    test('get prints the requested objects in the requested format', async () => {
      const { says, run } = await inside('get')
      expect(await run('get', 'configmaps')).toEqual({
        code: 0,
        stdout: '',
        stderr: 'No resources found in get namespace.\n',
      })
      await says('create', 'deployment', 'web', '--image=nginx', '--replicas=2')
      await says('create', 'configmap', 'settings', '--from-literal=colour=red')
      const table = async (...args: string[]) => rows(await says('get', ...args))
      expect(await table('deployments')).toEqual(['NAME READY UP-TO-DATE AVAILABLE AGE', 'web 0/2 0 0 #s'])
      expect(await table('deploy', 'web', '-o', 'wide')).toEqual([
        'NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR',
        'web 0/2 0 0 #s nginx nginx app=web',
      ])
      expect(await table('cm,deploy', '--show-labels')).toEqual([
        'NAME DATA AGE LABELS',
        'configmap/settings 1 #s <none>',
        '',
        'NAME READY UP-TO-DATE AVAILABLE AGE LABELS',
        'deployment.apps/web 0/2 0 0 #s app=web',
      ])
      expect(await says('get', 'cm', 'settings', '-o', 'yaml')).toMatch(
        /^apiVersion: v1\ndata:\n {2}colour: red\nkind: ConfigMap\nmetadata:\n {2}creationTimestamp: "[^"]+"\n {2}name: settings\n {2}namespace: get\n {2}resourceVersion: "\d+"\n {2}uid: \S{36}$/,
      )
      expect(JSON.parse(await says('get', 'cm', '-o', 'json'))).toMatchObject({
        apiVersion: 'v1',
        kind: 'List',
        items: [{ kind: 'ConfigMap', metadata: { name: 'settings' }, data: { colour: 'red' } }],
      })
      expect(await says('get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[*].image}')).toBe(
        'nginx',
      )
      expect(await says('get', 'cm', '-o', 'custom-columns=NAME:.metadata.name,COLOUR:.data.colour')).toBe(
        'NAME       COLOUR\nsettings   red',
      )
      expect(await says('get', 'deploy', '-o', 'go-template={{range .items}}{{.metadata.name}}{{end}}')).toBe('web')
      expect(await says('get', 'cm', 'settings', '--ignore-not-found', '-o', 'name')).toBe('configmap/settings')
      expect(await says('get', 'cm', 'missing', '--ignore-not-found')).toBe('')
    })

    test('selectors and namespaces select objects, in pages of any size', async () => {
      const { says, file } = await inside('select')
      const many = Array.from({ length: 7 }, (_, i) => named(`many-${i}`).replace('web', i % 2 ? 'odd' : 'even'))
      await says('create', '-f', file('many.yaml', many.join('---\n')))
      const names = async (...args: string[]) =>
        (await says('get', 'cm', '-o', 'name', ...args)).replaceAll('configmap/many-', '').split('\n').join('')
      expect(await names()).toBe('0123456')
      expect(await names('--chunk-size=2')).toBe('0123456')
      expect(await names('-l', 'app=odd')).toBe('135')
      expect(await names('-l', 'app in (even,other)', '--chunk-size=1')).toBe('0246')
      expect(await names('-l', '!app')).toBe('')
      expect(await names('--field-selector', 'metadata.name=many-3')).toBe('3')
      expect(await names('--field-selector', 'metadata.name!=many-3')).toBe('012456')
      expect(rows(await says('get', 'cm', '-A', '-l', 'app=odd', '--sort-by=.metadata.name', '--no-headers'))).toEqual(
        ['1', '3', '5'].map(i => `select many-${i} 1 #s`),
      )
      expect(await says('get', 'namespaces', '--field-selector', 'metadata.name=select', '-o', 'name')).toBe(
        'namespace/select',
      )
    })

    test('get --watch prints changes', async () => {
      const { says, follow } = await inside('watch')
      await says('create', 'configmap', 'first', '--from-literal=a=1')
      const table = follow('get', 'configmaps', '--watch', '-o', 'custom-columns=N:.metadata.name,D:.data')
      const events = follow('get', 'configmaps', '--watch', '--output-watch-events', '-o', 'name')
      try {
        expect(await table.next(2)).toEqual(['N       D', 'first   map[a:1]'])
        await events.next(1)
        await says('create', 'configmap', 'second')
        await says('patch', 'configmap', 'first', '-p', '{"data":{"a":"2"}}')
        await says('delete', 'configmap', 'second')
        expect(await table.next(3)).toEqual(['second   <none>', 'first    map[a:2]', 'second   <none>'])
        expect(await events.next(3)).toEqual(['configmap/second', 'configmap/first', 'configmap/second'])
      } finally {
        await Promise.all([table.stop(), events.stop()])
      }
    })

    test('create, replace and edit', async () => {
      const { says, complains, runWith, file } = await inside('write')
      const path = file('cm.yaml', CONFIG)
      expect(await complains('replace', '-f', path)).toBe(
        `Error from server (NotFound): error when replacing "${path}": configmaps "settings" not found`,
      )
      expect(await says('create', '-f', path)).toBe('configmap/settings created')
      expect(await complains('create', '-f', path)).toBe(
        `Error from server (AlreadyExists): error when creating "${path}": configmaps "settings" already exists`,
      )
      const colour = () => says('get', 'cm', 'settings', '-o', 'jsonpath={.data.colour}')
      const uid = () => says('get', 'cm', 'settings', '-o', 'jsonpath={.metadata.uid}')
      const before = await uid()
      file('cm.yaml', BLUE)
      expect(await says('replace', '-f', path)).toBe('configmap/settings replaced')
      expect(await colour()).toBe('blue')
      expect(await uid()).toBe(before)
      expect(await says('replace', '--force', '-f', path)).toBe(
        'configmap "settings" deleted\nconfigmap/settings replaced',
      )
      expect(await uid()).not.toBe(before)

      const editor = file('editor', '#!/bin/sh\nsed -i "s/colour: blue/colour: green/" "$1"\n', 0o755)
      const edit = (program: string) => runWith({ KUBE_EDITOR: program }, 'edit', 'cm', 'settings')
      expect(await edit(editor)).toEqual({ code: 0, stdout: 'configmap/settings edited\n', stderr: '' })
      expect(await colour()).toBe('green')
      expect((await edit('true')).stdout + (await edit('true')).stderr).toMatch('Edit cancelled, no changes made.')
    })

    test('apply creates, changes nothing, changes, and removes fields that are no longer in the file', async () => {
      const { says, run, file } = await inside('apply')
      const path = file('cm.yaml', CONFIG)
      expect(await says('apply', '-f', path)).toBe('configmap/settings created')
      expect(await says('apply', '-f', path)).toBe('configmap/settings unchanged')
      expect(await run('diff', '-f', path)).toEqual({ code: 0, stdout: '', stderr: '' })
      await says('patch', 'cm', 'settings', '--type=merge', '-p', '{"data":{"by":"another"}}')

      file('cm.yaml', BLUE.replace('{app: web}', '{}'))
      const diff = await run('diff', '-f', path)
      expect(diff.code).toBe(1)
      const changes = diff.stdout.split('\n').filter(line => /^[-+] /.test(line))
      expect(changes).toEqual(['-  colour: red', '+  colour: blue', '-  labels:', '-    app: web'])

      expect(await says('apply', '-f', path)).toBe('configmap/settings configured')
      const { data, metadata } = JSON.parse(await says('get', 'cm', 'settings', '-o', 'json'))
      expect(data).toEqual({ colour: 'blue', by: 'another' })
      expect(metadata.labels).toBeUndefined()
      expect(await says('apply', 'view-last-applied', 'cm/settings')).toMatch('colour: blue')

      file('cm.yaml', `${BLUE}---\n${named('more')}`)
      expect(await says('apply', '-f', path)).toBe('configmap/settings configured\nconfigmap/more created')
      file('cm.yaml', named('more'))
      expect(await says('apply', '-f', path, '--prune', '-l', 'app=web', '--prune-allowlist=core/v1/ConfigMap')).toBe(
        'configmap/more unchanged\nconfigmap/settings pruned',
      )
    })

    test('patch of every type', async () => {
      const { says, complains } = await inside('patch')
      await says('create', 'deployment', 'web', '--image=nginx')
      const containers = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"busybox"}]}}}}'
      const names = () => says('get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[*].name}')
      expect(await says('patch', 'deploy', 'web', '-p', containers)).toBe('deployment.apps/web patched')
      expect(await names()).toBe('side nginx')
      expect(await says('patch', 'deploy', 'web', '-p', containers)).toBe('deployment.apps/web patched (no change)')
      await says('patch', 'deploy', 'web', '--type=merge', '-p', containers)
      expect(await names()).toBe('side')
      const image = '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"alpine"}]'
      await says('patch', 'deploy', 'web', '--type=json', '-p', image)
      expect(await says('get', 'deploy', 'web', '-o', 'jsonpath={..image}')).toBe('alpine')
      expect(
        await complains('patch', 'deploy', 'web', '--type=json', '-p', '[{"op":"test","path":"/kind","value":"x"}]'),
      ).toMatch('The request is invalid')
      await says('patch', 'deploy', 'web', '--subresource=status', '--type=merge', '-p', '{"status":{"replicas":1}}')
      expect(await says('get', 'deploy', 'web', '-o', 'jsonpath={.status.replicas}')).toBe('1')
    })

    test('label and annotate', async () => {
      const { says, complains } = await inside('label')
      await says('create', 'configmap', 'settings')
      expect(await says('label', 'cm', 'settings', 'tier=back')).toBe('configmap/settings labeled')
      expect(await complains('label', 'cm', 'settings', 'tier=front')).toBe(
        "error: 'tier' already has a value (back), and --overwrite is false",
      )
      expect(await says('label', 'cm', 'settings', 'tier=front', '--overwrite')).toBe('configmap/settings labeled')
      expect(await says('get', 'cm', '-L', 'tier', '--no-headers')).toMatch(/front$/)
      expect(await says('label', 'cm', '--all', 'tier-')).toBe('configmap/settings unlabeled')
      expect(await says('annotate', 'cm', 'settings', 'note=hello')).toBe('configmap/settings annotated')
      expect(await says('get', 'cm', 'settings', '-o', 'jsonpath={.metadata.annotations.note}')).toBe('hello')
      expect(await complains('label', 'cm', 'settings', 'tier=not ok')).toMatch('a valid label must be')
    })

    test('delete: one, by selector, all, and dependents in each cascade mode', async () => {
      const { says, complains, file } = await inside('delete')
      const configs = ['a', 'b', 'c', 'd'].map((name, i) => named(name).replace('web', i < 3 ? 'web' : 'db'))
      await says('create', '-f', file('cms.yaml', configs.join('---\n')))
      expect(await says('delete', 'cm', 'a')).toBe('configmap "a" deleted')
      expect(await complains('delete', 'cm', 'a')).toBe('Error from server (NotFound): configmaps "a" not found')
      expect(await says('delete', 'cm', '-l', 'app=web')).toBe('configmap "b" deleted\nconfigmap "c" deleted')
      expect(await says('delete', 'cm', '--all')).toBe('configmap "d" deleted')

      async function deploy(): Promise<void> {
        await says('create', 'deployment', 'web', '--image=nginx')
        const uid = await says('get', 'deploy', 'web', '-o', 'jsonpath={.metadata.uid}')
        await says('apply', '-f', file('replica-set.yaml', replicaSetOf(uid)))
      }
      const left = () => says('get', 'deploy,rs', '-o', 'name', '--ignore-not-found')
      const remove = (mode: string) => says('delete', 'deploy', 'web', `--cascade=${mode}`)
      await deploy()
      expect(await remove('orphan')).toBe('deployment.apps "web" deleted')
      expect(await left()).toBe('replicaset.apps/web-1')
      expect(await says('get', 'rs', 'web-1', '-o', 'jsonpath={.metadata.ownerReferences}')).toBe('')
      await says('delete', 'rs', 'web-1')

      await deploy()
      await remove('foreground')
      expect(await left()).toBe('')

      await deploy()
      await remove('background')
      await says('wait', '--for=delete', 'rs/web-1', '--timeout=10s')
      expect(await left()).toBe('')
    })

    test('wait', async () => {
      const { says, complains } = await inside('wait')
      await says('run', 'busy', '--image=busybox')
      const image = '--for=jsonpath={.spec.containers[0].image}'
      expect(await says('wait', `${image}=busybox`, 'pod/busy', '--timeout=10s')).toBe('pod/busy condition met')
      expect(await complains('wait', '--for=condition=Ready', 'pod/busy', '--timeout=200ms')).toBe(
        'error: timed out waiting for the condition on pods/busy',
      )
      const [met] = await Promise.all([
        says('wait', '--for=condition=Ready', 'pod/busy', '--timeout=10s'),
        says(
          'patch',
          'pod',
          'busy',
          '--subresource=status',
          '-p',
          '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}',
        ),
      ])
      expect(met).toBe('pod/busy condition met')
      expect(await says('get', 'pods', '--field-selector=status.phase=Running', '-o', 'name')).toBe('pod/busy')
      await says('patch', 'pod', 'busy', '--type=merge', '-p', '{"metadata":{"finalizers":["example.com/slow"]}}')
      await says('delete', 'pod', 'busy', '--wait=false')
      const [gone] = await Promise.all([
        says('wait', '--for=delete', 'pod/busy', '--timeout=10s'),
        says('patch', 'pod', 'busy', '--type=merge', '-p', '{"metadata":{"finalizers":null}}'),
      ])
      expect(gone).toMatch(/^(pod\/busy condition met)?$/)
    })

    test('scale, set, run and expose', async () => {
      const { says, complains } = await inside('scale')
      await says('create', 'deployment', 'web', '--image=nginx', '--replicas=2')
      const field = (path: string) => says('get', 'deploy', 'web', '-o', `jsonpath=${path}`)
      expect(await says('scale', 'deployment', 'web', '--replicas=5')).toBe('deployment.apps/web scaled')
      expect(await field('{.spec.replicas} {.metadata.generation}')).toBe('5 2')
      expect(await complains('scale', 'deploy', 'web', '--current-replicas=4', '--replicas=1')).toMatch(
        'Expected replicas to be 4, was 5',
      )
      expect(await says('get', 'deploy', 'web', '--subresource=scale', '-o', 'jsonpath={.spec.replicas}')).toBe('5')
      expect(await says('set', 'image', 'deploy/web', 'nginx=nginx:2')).toBe('deployment.apps/web image updated')
      expect(await field('{..image}')).toBe('nginx:2')
      expect(await says('expose', 'deploy', 'web', '--port=80')).toBe('service/web exposed')
      expect(await says('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}')).toMatch(/^10\.0\.0\.\d+$/)
    })

    test('a dry run stores nothing, and misspelt fields are reported', async () => {
      const { says, run, complains, file } = await inside('try')
      expect(await says('create', 'cm', 'tried', '--dry-run=server', '-o', 'jsonpath={.metadata.name}')).toBe('tried')
      const path = file('cm.yaml', CONFIG)
      expect(await says('apply', '-f', path, '--dry-run=server')).toBe('configmap/settings created (server dry run)')
      expect(await says('get', 'cm', '-o', 'name', '--ignore-not-found')).toBe('')
      await says('apply', '-f', path)
      expect(await says('delete', 'cm', 'settings', '--dry-run=server')).toBe(
        'configmap "settings" deleted (server dry run)',
      )
      expect(await says('get', 'cm', '-o', 'name')).toBe('configmap/settings')

      const misspelt = file('misspelt.yaml', named('misspelt', CONFIG.replace('\ndata:', '\ndta:')))
      const create = (mode: string) => ['create', '-f', misspelt, `--validate=${mode}`, '--dry-run=server']
      expect(await complains(...create('strict'))).toMatch('strict decoding error: unknown field "dta"')
      expect(await run(...create('warn'))).toEqual({
        code: 0,
        stdout: 'configmap/misspelt created (server dry run)\n',
        stderr: 'Warning: unknown field "dta"\n',
      })
      expect((await run(...create('ignore'))).stderr).toBe('')
    })

    test('events', async () => {
      const { says, run, file } = await inside('events')
      expect((await run('events')).stderr).toBe('No events found in events namespace.\n')
      await says('create', '-f', file('event.yaml', EVENT))
      const columns = (text: string) => text.split('\n').map(line => line.split(/ {2,}/).slice(1))
      const expected = [
        ['TYPE', 'REASON', 'OBJECT', 'MESSAGE'],
        ['Warning', 'Broken', 'Pod/web', 'it does not run'],
      ]
      expect(columns(await says('events', '--for', 'pod/web'))).toEqual(expected)
      expect(
        columns((await says('get', 'events', '--field-selector=involvedObject.name=web')).replace('pod/', 'Pod/')),
      ).toEqual(expected)
      expect(await says('get', 'events.events.k8s.io', '-o', 'jsonpath={.items[*].note}')).toBe('it does not run')
    })

    test('authorization', async () => {
      const { says, run } = await inside('access')
      expect(await says('auth', 'can-i', 'create', 'pods')).toBe('yes')
      expect(await says('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).toBe('kubernetes-admin')
      const asJane = (...args: string[]) => run('auth', 'can-i', ...args, '--as=jane')
      expect(await asJane('get', 'pods')).toMatchObject({ code: 1, stdout: 'no\n' })
      await says('create', 'role', 'reader', '--verb=get,list', '--resource=pods')
      await says('create', 'rolebinding', 'readers', '--role=reader', '--user=jane')
      expect(await asJane('get', 'pods')).toEqual({ code: 0, stdout: 'yes\n', stderr: '' })
      expect((await asJane('delete', 'pods')).stdout).toBe('no\n')
      expect((await asJane('--list')).stdout).toMatch(/^pods +\[\] +\[\] +\[get list\]$/m)
      expect(await run('get', 'pods', '--as=jane')).toMatchObject({ code: 0 })
      expect((await run('get', 'secrets', '--as=jane')).stderr).toBe(
        'Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "access"\n',
      )
      expect((await run('get', 'pods', '--token=wrong', '--kubeconfig=/dev/null', `-s=${served.url}`)).code).toBe(1)
    })

    test('a namespace is deleted with its objects', async () => {
      const { says, run, complains, file } = await inside('doomed')
      await says('create', '-f', file('many.yaml', Array.from({ length: 50 }, (_, i) => named(`c-${i}`)).join('---\n')))
      await says('create', 'deployment', 'web', '--image=nginx')
      // It warns, because a namespace is cluster-scoped.
      expect((await run('delete', 'namespace', 'doomed')).stdout).toBe('namespace "doomed" deleted\n')
      expect(await complains('get', 'namespace', 'doomed')).toBe(
        'Error from server (NotFound): namespaces "doomed" not found',
      )
      expect(await complains('create', 'cm', 'late')).toBe(
        'error: failed to create configmap: namespaces "doomed" not found',
      )
      await says('create', 'namespace', 'doomed')
      expect(await says('get', 'cm,deploy', '-o', 'name', '--ignore-not-found')).toBe('')
    })

    test('discovery', async () => {
      const { says, run } = anywhere()
      const resources = await says('api-resources', '--no-headers', '-o', 'wide')
      expect(resources).toMatch(
        /^configmaps +cm +v1 +true +ConfigMap +create,delete,deletecollection,get,list,patch,update,watch *$/m,
      )
      expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment +\S+ +all$/m)
      expect((await says('api-resources', '--namespaced=false', '-o', 'name')).split('\n')).toEqual(
        expect.arrayContaining(['namespaces', 'nodes', 'clusterroles.rbac.authorization.k8s.io']),
      )
      expect((await says('api-versions')).split('\n')).toEqual(
        expect.arrayContaining(['apps/v1', 'coordination.k8s.io/v1', 'rbac.authorization.k8s.io/v1', 'v1']),
      )
      expect(await says('explain', 'deployment.spec.replicas')).toMatch(
        /^GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nFIELD: replicas <integer>\n/,
      )
      expect(await says('explain', 'pods', '--recursive')).toMatch(/^ {4}containers\t<\[\]Container> -required-$/m)
      expect(await says('get', '--raw', '/readyz')).toBe('ok')
      expect(JSON.parse(await says('get', '--raw', '/api/v1/namespaces/default')).kind).toBe('Namespace')
      expect(JSON.parse((await run('version', '-o', 'json')).stdout).serverVersion).toMatchObject({ major: '1' })
      expect(await says('cluster-info')).toMatch(served.url)
    })

    test('describe', async () => {
      const { says } = await inside('describe')
      await says('create', 'deployment', 'web', '--image=nginx')
      await says('create', 'configmap', 'settings', '--from-literal=colour=red')
      expect(await says('describe', 'cm', 'settings')).toMatch(/^Data\n====\ncolour:\n----\nred$/m)
      expect(await says('describe', 'deploy', 'web')).toMatch(/^Replicas: +1 desired \|/m)
      expect(await says('describe', 'namespace', 'describe')).toMatch(/^Status: +Active$/m)
    })
  })
})

/** A table without parts that differ between runs: ages, and the widths of columns. */
const rows = (table: string): string[] =>
  table
    .replaceAll(/\b\d+s\b/g, '#s')
    .replaceAll(/ +/g, ' ')
    .split('\n')

const replicaSetOf = (owner: string): string => `apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-1
  ownerReferences:
  - {apiVersion: apps/v1, kind: Deployment, name: web, uid: ${owner}, controller: true, blockOwnerDeletion: true}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: nginx, image: nginx}]}}
`

const EVENT = `apiVersion: v1
kind: Event
metadata: {name: web.1, namespace: events}
involvedObject: {apiVersion: v1, kind: Pod, name: web, namespace: events}
type: Warning
reason: Broken
message: it does not run
lastTimestamp: "2026-01-01T00:00:00Z"
`
