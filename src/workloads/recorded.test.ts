// What kube-controller-manager v1.36.4 wrote for the same objects, without a scheduler or a kubelet. Names with a random
// part, and the hash of a Deployment's template, are left out.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { printJson } from '../meta/go/go-text.js'
import { type Loose, type SimulatedWorld, startSimulatedWorld } from './world.suite.js'

let world: SimulatedWorld
const spec = { containers: [{ name: 'c', image: 'i' }] }
const selector = (app: string) => ({ matchLabels: { app } })
const template = (app: string) => ({ metadata: { labels: { app } }, spec })

beforeAll(async () => {
  world = await startSimulatedWorld({ simulates: false })
  await world.create(
    'Deployment',
    'web',
    { spec: { replicas: 2, selector: selector('web'), template: template('web') } },
    { annotations: { note: 'x' } },
  )
  await world.create('StatefulSet', 'db', {
    spec: {
      replicas: 2,
      serviceName: 'db',
      selector: selector('db'),
      template: template('db'),
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  })
  await world.create('Job', 'j', {
    spec: {
      completions: 2,
      parallelism: 2,
      completionMode: 'Indexed',
      template: { spec: { restartPolicy: 'Never', ...spec } },
    },
  })
  await world.idle()
})
afterAll(() => world.stop())

const owner = (apiVersion: string, kind: string, name: string) => [
  { apiVersion, kind, name, uid: expect.any(String), controller: true, blockOwnerDeletion: true },
]
const time = expect.any(String)

test('a Deployment and its ReplicaSet', async () => {
  const [set] = await world.list('ReplicaSet')
  const hash = set.metadata.labels['pod-template-hash']
  expect(set.metadata).toMatchObject({
    name: `web-${hash}`,
    generation: 1,
    annotations: {
      'deployment.kubernetes.io/desired-replicas': '2',
      'deployment.kubernetes.io/max-replicas': '3',
      'deployment.kubernetes.io/revision': '1',
      note: 'x',
    },
    labels: { app: 'web', 'pod-template-hash': hash },
    ownerReferences: owner('apps/v1', 'Deployment', 'web'),
  })
  expect(set.status).toEqual({ fullyLabeledReplicas: 2, observedGeneration: 1, replicas: 2, terminatingReplicas: 0 })
  expect((await world.get('Deployment', 'web')).status).toEqual({
    observedGeneration: 1,
    replicas: 2,
    terminatingReplicas: 0,
    unavailableReplicas: 2,
    updatedReplicas: 2,
    conditions: [
      {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
        lastTransitionTime: time,
        lastUpdateTime: time,
      },
      {
        type: 'Progressing',
        status: 'True',
        reason: 'ReplicaSetUpdated',
        message: `ReplicaSet "web-${hash}" is progressing.`,
        lastTransitionTime: time,
        lastUpdateTime: time,
      },
    ],
  })
})

test('a StatefulSet, its revision with the same name, its first pod and claim', async () => {
  expect((await world.get('StatefulSet', 'db')).status).toEqual({
    availableReplicas: 0,
    collisionCount: 0,
    currentReplicas: 1,
    currentRevision: 'db-c746b47',
    observedGeneration: 1,
    replicas: 1,
    updateRevision: 'db-c746b47',
    updatedReplicas: 1,
  })
  const revisions = await world.list('ControllerRevision')
  expect(revisions.map(({ metadata }) => metadata.name)).toEqual(['db-c746b47'])
  // Go clients compare these bytes with JSON of their own, whose members are in order.
  expect(JSON.stringify(revisions[0]!.data)).toBe(printJson(revisions[0]!.data))
  const pod = await world.get('Pod', 'db-0')
  expect(pod.spec.hostname).toBe('db-0')
  expect(pod.metadata).toMatchObject({
    generateName: 'db-',
    labels: {
      app: 'db',
      'apps.kubernetes.io/pod-index': '0',
      'controller-revision-hash': 'db-c746b47',
      'statefulset.kubernetes.io/pod-name': 'db-0',
    },
    ownerReferences: owner('apps/v1', 'StatefulSet', 'db'),
  })
  expect((await world.get('PersistentVolumeClaim', 'data-db-0')).metadata.labels).toEqual({ app: 'db' })
  expect(await world.events('db')).toEqual([
    'SuccessfulCreate: Create Claim data-db-0 Pod db-0 in StatefulSet db success',
    'SuccessfulCreate: Create Pod db-0 in StatefulSet db successful',
  ])
})

test('an Indexed Job and its pods', async () => {
  expect((await world.get('Job', 'j')).status).toEqual({
    active: 2,
    ready: 0,
    startTime: time,
    terminating: 0,
    uncountedTerminatedPods: {},
  })
  const pods = (await world.list('Pod')).filter(pod => pod.metadata.generateName === 'j-0-')
  expect(pods).toHaveLength(1)
  const [pod] = pods as [Loose]
  const { uid } = (await world.get('Job', 'j')).metadata
  expect(pod.metadata).toMatchObject({
    annotations: { 'batch.kubernetes.io/job-completion-index': '0' },
    finalizers: ['batch.kubernetes.io/job-tracking'],
    labels: {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-completion-index': '0',
      'batch.kubernetes.io/job-name': 'j',
      'controller-uid': uid,
      'job-name': 'j',
    },
    ownerReferences: owner('batch/v1', 'Job', 'j'),
  })
  const fieldPath = "metadata.labels['batch.kubernetes.io/job-completion-index']"
  expect(pod.spec.containers[0].env).toEqual([
    { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } },
  ])
})
