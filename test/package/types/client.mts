// Compiled by installed-package.test.ts against the installed package. crds.mts is what `binnacle crd types` prints.
import type { Deployment } from 'binnacle/kinds/apps/v1'
import { startBinnacle, StatusError, type Stored, type TestServer } from 'binnacle/testing'
import type { CustomKinds, Widget } from './crds.mjs'

declare module 'binnacle/testing' {
  interface Kinds extends CustomKinds {}
}

export async function use(server: TestServer): Promise<void> {
  const deployments = server.client.resource('apps/v1', 'Deployment').namespace('team')
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
  const web: Stored<Deployment> = await deployments.create({
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { app: 'web' } }, template },
  })
  web.spec.replicas = 3
  web.metadata.labels = { ...web.metadata.labels, app: 'web' }
  await deployments.update(web)
  await deployments.apply({ metadata: { name: 'web' }, spec: web.spec }, { fieldManager: 'me', force: true })
  const ready: number | undefined = (await deployments.waitFor('web', each => each.status.readyReplicas === 3)).status.readyReplicas
  const replicas: number = (await deployments.subresource('scale').get('web')).status.replicas
  await deployments.subresource('status').patch('web', { status: { replicas: ready ?? replicas } })
  await deployments.patch('web', { spec: { paused: null } })
  await deployments.patch('web', [{ op: 'remove', path: '/spec/paused' }])
  await deployments.patch('web', { spec: { template: { $patch: 'replace' } } }, { type: 'strategic' })
  for (const { metadata } of (await deployments.list({ labelSelector: { app: 'web' } })).items) await deployments.delete(metadata.name)
  await server.client.resource('v1', 'Namespace').create({ metadata: { generateName: 'team-' } })
  await server.client.resource('v1', 'Pod').subresource('eviction').create('web-0', { deleteOptions: { gracePeriodSeconds: 0 } })
  const token = (await server.client.resource('v1', 'ServiceAccount').subresource('token').create('robot', { spec: { audiences: [] } })).status.token
  const review = await server.client.resource('authorization.k8s.io/v1', 'SubjectAccessReview').create({ spec: { user: token ?? "" } })
  const isAllowed: boolean = review.status.allowed
  for await (const { type, object } of await deployments.watch({ resourceVersion: '1' })) if (type === 'DELETED') console.log(object.spec.replicas, isAllowed)
  try {
    await deployments.get('web')
  } catch (error) {
    if (error instanceof StatusError) console.log(error.code, error.reason, error.status.details?.causes)
  }

  const widgets = server.client.resource('example.com/v1', 'Widget').namespace('team')
  const widget: Widget = await widgets.create({ metadata: { name: 'a' }, spec: { mode: 'Fast' } })
  await server.client.resource<Widget>('example.com/v1', 'Widget').update({ ...widget, metadata: { ...widget.metadata, name: 'a' } })
  await widgets.subresource('scale').patch('a', { spec: { replicas: 2 } })
  await server.client.resource('other.example.com/v1', 'Gadget').create({ metadata: { name: 'any' }, spec: { what: 'ever' } })

  // @ts-expect-error a kind that the group does not have
  server.client.resource('apps/v1', 'Deploymnt')
  // @ts-expect-error the wrong apiVersion of the type
  server.client.resource<Widget>('example.com/v2', 'Widget')
  // @ts-expect-error a Deployment needs a spec
  await deployments.create({ metadata: { name: 'web' } })
  // @ts-expect-error an object needs a name
  await deployments.create({ metadata: {}, spec: web.spec })
  // @ts-expect-error a field that a spec does not have
  await deployments.apply({ metadata: { name: 'web' }, spec: { ...web.spec, replica: 1 } })
  // @ts-expect-error a wrong type
  web.spec.replicas = '3'
  // @ts-expect-error a value that an enum does not have
  await widgets.create({ metadata: { name: 'a' }, spec: { mode: 'Slow' } })
  // @ts-expect-error a custom object without a required spec
  await widgets.create({ metadata: { name: 'a' } })
  // @ts-expect-error a subresource that the kind does not have
  server.client.resource('v1', 'ConfigMap').subresource('scale')
  // @ts-expect-error an option that is not there
  await deployments.list({ labelselector: 'a=b' })
}
export const started = startBinnacle()
