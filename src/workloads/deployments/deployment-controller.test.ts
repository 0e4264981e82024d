import { afterEach, beforeEach, expect, test } from 'vitest'
import { podTemplate, type SimulatedWorld, startSimulatedWorld } from '../world.suite.js'

let world: SimulatedWorld
beforeEach(async () => {
  world = await startSimulatedWorld()
})
afterEach(() => world.stop())

const spec = (replicas: number, more: object = {}) => ({
  replicas,
  selector: { matchLabels: { app: 'web' } },
  template: podTemplate('web'),
  ...more,
})
const setImage =
  (image: string) => (deployment: { spec: { template: { spec: { containers: { image: string }[] } } } }) => {
    deployment.spec.template.spec.containers[0]!.image = image
  }
const sizes = async () =>
  (await world.list('ReplicaSet'))
    .map(set => ({ revision: set.metadata.annotations['deployment.kubernetes.io/revision'], size: set.spec.replicas }))
    .toSorted((a, b) => a.revision - b.revision)
    .map(({ size }) => size)

test('a Deployment gets a ReplicaSet, and its pods run on the nodes', async () => {
  await world.create('Deployment', 'web', { spec: spec(3) })
  await world.idle()
  const [set] = await world.list('ReplicaSet')
  const pods = await world.list('Pod')
  expect(pods.map(pod => pod.status.phase)).toEqual(['Running', 'Running', 'Running'])
  expect(new Set(pods.map(pod => pod.spec.nodeName)).size).toBe(3)
  expect(new Set(pods.map(pod => pod.status.podIP)).size).toBe(3)
  expect(set.status).toEqual({
    replicas: 3,
    fullyLabeledReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    terminatingReplicas: 0,
    observedGeneration: 1,
  })
  const deployment = await world.get('Deployment', 'web')
  expect(deployment.status).toMatchObject({
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    conditions: [
      { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
      {
        type: 'Progressing',
        status: 'True',
        reason: 'NewReplicaSetAvailable',
        message: `ReplicaSet "${set.metadata.name}" has successfully progressed.`,
      },
    ],
  })
  expect(await world.events('web')).toEqual([
    `ScalingReplicaSet: Scaled up replica set ${set.metadata.name} from 0 to 3`,
  ])
})

test('a new template is rolled out within maxSurge and maxUnavailable', async () => {
  const strategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
  await world.create('Deployment', 'web', { spec: spec(3, { strategy }) })
  await world.idle()
  await world.change('Deployment', 'web', setImage('example.com/image:2'))
  await world.idle()
  expect(await sizes()).toEqual([0, 3])
  const scaled = (await world.events('web')).map(text => text.replace(/.*replica set web-\w+ /, ''))
  expect(scaled).toEqual([
    'from 0 to 3',
    'from 0 to 1',
    'from 3 to 2',
    'from 1 to 2',
    'from 2 to 1',
    'from 2 to 3',
    'from 1 to 0',
  ])
  const pods = await world.list('Pod')
  expect(pods.map(pod => pod.spec.containers[0].image)).toEqual(Array(3).fill('example.com/image:2'))
})

test('going back to an earlier template takes its ReplicaSet again, with a new revision', async () => {
  await world.create('Deployment', 'web', { spec: spec(1) })
  await world.idle()
  await world.change('Deployment', 'web', setImage('example.com/image:2'))
  await world.idle()
  await world.change('Deployment', 'web', setImage('example.com/image:1'))
  await world.idle()
  const sets = await world.list('ReplicaSet')
  expect(sets).toHaveLength(2)
  const current = sets.find(set => set.spec.replicas === 1)
  expect(current.metadata.annotations).toMatchObject({
    'deployment.kubernetes.io/revision': '3',
    'deployment.kubernetes.io/revision-history': '1',
  })
  expect((await world.get('Deployment', 'web')).metadata.annotations['deployment.kubernetes.io/revision']).toBe('3')
})

test('a revision that no float can hold is followed by the next one', async () => {
  const annotations = { 'deployment.kubernetes.io/revision': '3546343826724305832' }
  await world.create('ReplicaSet', 'adopted', { spec: spec(0) }, { annotations, labels: { app: 'web' } })
  const template = podTemplate('web', { hostname: 'another' })
  await world.create('Deployment', 'web', { spec: spec(1, { template }) })
  await world.idle()
  expect((await world.get('Deployment', 'web')).metadata.annotations).toMatchObject({
    'deployment.kubernetes.io/revision': '3546343826724305833',
  })
})

test('a rollout that makes no progress says so after its deadline, and goes on when it can', async () => {
  await world.create('Deployment', 'web', { spec: spec(2, { progressDeadlineSeconds: 60 }) })
  await world.idle()
  await world.change('Deployment', 'web', deployment => {
    deployment.spec.template.metadata.annotations = { 'binnacle.dev/ready': 'false' }
  })
  await world.idle()
  await world.advance(62_000)
  const failed = await world.get('Deployment', 'web')
  expect(failed.status.conditions.find(({ type }: { type: string }) => type === 'Progressing')).toMatchObject({
    status: 'False',
    reason: 'ProgressDeadlineExceeded',
  })
  expect(failed.status).toMatchObject({ replicas: 3, updatedReplicas: 1, unavailableReplicas: 1 })
  const unready = (await world.list('Pod')).filter(pod => pod.metadata.annotations?.['binnacle.dev/ready'] === 'false')
  expect(unready).toHaveLength(1)
  await world.change('Deployment', 'web', deployment => {
    deployment.spec.template.metadata.annotations = {}
  })
  await world.idle()
  expect((await world.get('Deployment', 'web')).status).toMatchObject({ replicas: 2, availableReplicas: 2 })
})

test('a paused Deployment is scaled and not rolled out', async () => {
  await world.create('Deployment', 'web', { spec: spec(2) })
  await world.idle()
  await world.change('Deployment', 'web', deployment => {
    deployment.spec.paused = true
    deployment.spec.replicas = 4
    setImage('example.com/image:2')(deployment)
  })
  await world.idle()
  expect(await sizes()).toEqual([4])
  expect((await world.get('Deployment', 'web')).status.conditions).toContainEqual(
    expect.objectContaining({ type: 'Progressing', status: 'Unknown', reason: 'DeploymentPaused' }),
  )
  await world.change('Deployment', 'web', deployment => {
    deployment.spec.paused = false
  })
  await world.idle()
  expect(await sizes()).toEqual([0, 4])
})

test('with Recreate, the new pods come when the old ones are gone', async () => {
  const template = podTemplate('web', {}, { annotations: { 'binnacle.dev/terminate-after': '10s' } })
  await world.create('Deployment', 'web', { spec: spec(2, { strategy: { type: 'Recreate' }, template }) })
  await world.idle()
  await world.change('Deployment', 'web', setImage('example.com/image:2'))
  await world.idle()
  expect(await sizes()).toEqual([0])
  await world.advance(10_000)
  expect(await sizes()).toEqual([0, 2])
})

test('old ReplicaSets are kept as many as the history says', async () => {
  await world.create('Deployment', 'web', { spec: spec(1, { revisionHistoryLimit: 1 }) })
  for (const version of [2, 3, 4]) {
    await world.idle()
    await world.change('Deployment', 'web', setImage(`example.com/image:${version}`))
  }
  await world.idle()
  expect(await sizes()).toEqual([0, 1])
})

test('a number of replicas beyond all bounds makes no more pods than the simulation may have', async () => {
  await world.stop()
  world = await startSimulatedWorld({ maxPods: 20 })
  await world.create('Deployment', 'web', { spec: spec(2 ** 31 - 1, { strategy: { type: 'Recreate' } }) })
  await world.idle()
  expect(await world.list('Pod')).toHaveLength(20)
  const [set] = await world.list('ReplicaSet')
  expect(set.status.conditions).toEqual([
    expect.objectContaining({
      type: 'ReplicaFailure',
      reason: 'FailedCreate',
      message: expect.stringContaining('the simulation is limited to 20 pods'),
    }),
  ])
  expect((await world.events(set.metadata.name)).at(-1)).toContain('is limited to 20 pods')
  expect((await world.events(set.metadata.name)).length).toBeLessThan(30)
})
