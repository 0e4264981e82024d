// The other kinds of workloads, on one simulation each.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Loose, podTemplate, type SimulatedWorld, startSimulatedWorld } from './world.suite.js'

let world: SimulatedWorld
beforeEach(async () => {
  world = await startSimulatedWorld()
})
afterEach(() => world.stop())

const selector = { matchLabels: { app: 'a' } }
const names = (objects: Loose[]): string[] => objects.map(({ metadata }) => metadata.name)

describe('a StatefulSet', () => {
  const create = (spec: object = {}, annotations: object = {}) =>
    world.create('StatefulSet', 's', {
      spec: { replicas: 3, serviceName: 's', selector, template: podTemplate('a', {}, { annotations }), ...spec },
    })

  test('makes its pods in order, each when the one before is ready', async () => {
    await create({}, { 'binnacle.dev/ready-after': '10s' })
    await world.idle()
    expect(names(await world.list('Pod'))).toEqual(['s-0'])
    await world.advance(10_000)
    expect(names(await world.list('Pod'))).toEqual(['s-0', 's-1'])
    await world.advance(20_000)
    const [revision] = await world.list('ControllerRevision')
    expect((await world.get('StatefulSet', 's')).status).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      availableReplicas: 3,
      currentRevision: revision.metadata.name,
      updateRevision: revision.metadata.name,
      collisionCount: 0,
    })
    const pod = await world.get('Pod', 's-1')
    expect(pod.spec).toMatchObject({ hostname: 's-1', subdomain: 's' })
    expect(pod.metadata.labels).toMatchObject({
      'statefulset.kubernetes.io/pod-name': 's-1',
      'apps.kubernetes.io/pod-index': '1',
      'controller-revision-hash': revision.metadata.name,
    })
  })

  test('brings its pods to a new template from the last to the first, down to the partition', async () => {
    await create({ updateStrategy: { rollingUpdate: { partition: 1 } } })
    await world.idle()
    await world.change('StatefulSet', 's', set => {
      set.spec.template.spec.containers[0].image = 'example.com/image:2'
    })
    await world.idle()
    const images = (await world.list('Pod')).map(pod => pod.spec.containers[0].image)
    expect(images).toEqual(['example.com/image:1', 'example.com/image:2', 'example.com/image:2'])
    expect(await world.list('ControllerRevision')).toHaveLength(2)
    await world.change('StatefulSet', 's', set => {
      set.spec.replicas = 1
    })
    await world.idle()
    expect(names(await world.list('Pod'))).toEqual(['s-0'])
  })
})

test('a DaemonSet has a pod on each node that it tolerates, and on new ones', async () => {
  await world.change('Node', 'node-3', node => {
    node.spec.taints = [{ key: 'special', effect: 'NoSchedule' }]
  })
  await world.create('DaemonSet', 'd', { spec: { selector, template: podTemplate('a') } })
  await world.idle()
  const nodes = async () =>
    (await world.list('Pod')).map(pod => pod.spec.nodeName).toSorted((a: string, b: string) => (a < b ? -1 : 1))
  expect(await nodes()).toEqual(['node-1', 'node-2'])
  await world.create('Node', 'node-4', {})
  await world.idle()
  expect(await nodes()).toEqual(['node-1', 'node-2', 'node-4'])
  expect((await world.get('DaemonSet', 'd')).status).toMatchObject({
    desiredNumberScheduled: 3,
    currentNumberScheduled: 3,
    numberReady: 3,
    numberAvailable: 3,
    updatedNumberScheduled: 3,
  })
  await world.change('DaemonSet', 'd', set => {
    set.spec.template.spec.containers[0].image = 'example.com/image:2'
  })
  await world.idle()
  expect(new Set((await world.list('Pod')).map(pod => pod.spec.containers[0].image))).toEqual(
    new Set(['example.com/image:2']),
  )
})

test('a CronJob makes Jobs at its times, keeps the last ones, and follows its time zone', async () => {
  await world.stop()
  world = await startSimulatedWorld({ nodes: 1 })
  const jobTemplate = { spec: { template: podTemplate('c', { restartPolicy: 'Never' }) } }
  const spec = { schedule: '* * * * *', successfulJobsHistoryLimit: 2, jobTemplate }
  await world.create('CronJob', 'c', { spec })
  await world.create('CronJob', 'late', { spec: { ...spec, schedule: '3 9 * * *', timeZone: 'Asia/Tokyo' } })
  await world.idle()
  await world.advance(4 * 60_000 + 1000)
  const jobs = await world.list('Job')
  expect(names(jobs).filter(name => name.startsWith('c-'))).toHaveLength(2)
  expect(names(jobs).filter(name => name.startsWith('late-'))).toEqual([
    `late-${Date.parse('2026-01-01T00:03:00Z') / 60_000}`,
  ])
  const { status } = await world.get('CronJob', 'c')
  expect(status).toMatchObject({ lastScheduleTime: '2026-01-01T00:04:00Z' })
  expect(status.active).toBeUndefined()
  expect(await world.events('c')).toContainEqual(expect.stringContaining('SawCompletedJob'))
})

test('a CronJob starts the latest of the times that a jump of the clock has passed, once, and none that is too late', async () => {
  const jobTemplate = { spec: { template: podTemplate('c', { restartPolicy: 'Never' }) } }
  await world.create('CronJob', 'c', { spec: { schedule: '*/10 * * * *', jobTemplate } })
  const late = { schedule: '0 * * * *', startingDeadlineSeconds: 60, jobTemplate }
  await world.create('CronJob', 'late', { spec: late })
  await world.idle()
  await world.jump(3 * 3_600_000 + 25 * 60_000)
  const nameAt = (time: string) => `c-${Date.parse(time) / 60_000}`
  expect(names(await world.list('Job'))).toEqual([nameAt('2026-01-01T03:20:00Z')])
  await world.jump(10 * 60_000)
  expect(names(await world.list('Job'))).toEqual([nameAt('2026-01-01T03:20:00Z'), nameAt('2026-01-01T03:30:00Z')])
})

test('a Service has EndpointSlices and Endpoints of its pods, which follow their readiness', async () => {
  const ports = [{ name: 'http', containerPort: 8080 }]
  const containers = [{ name: 'c', image: 'i', ports }]
  await world.create('Deployment', 'a', { spec: { replicas: 2, selector, template: podTemplate('a', { containers }) } })
  await world.create('Service', 'a', {
    spec: { selector: { app: 'a' }, clusterIP: 'None', ports: [{ name: 'web', port: 80, targetPort: 'http' }] },
  })
  await world.idle()
  const [slice] = await world.list('EndpointSlice')
  expect(slice.ports).toEqual([{ name: 'web', port: 8080, protocol: 'TCP' }])
  expect(slice.endpoints.map((each: Loose) => each.conditions)).toEqual(
    Array.from({ length: 2 }, () => ({ ready: true, serving: true, terminating: false })),
  )
  const triggered = 'endpoints.kubernetes.io/last-change-trigger-time'
  const service = await world.get('Service', 'a')
  expect(slice.metadata.annotations).toEqual({ [triggered]: service.metadata.creationTimestamp })
  const [{ metadata }] = (await world.list('Pod')) as [Loose]
  await world.advance(7_000)
  await world.workloads.simulation.pods.setReady({ namespace: 'n', name: metadata.name }, false)
  await world.idle()
  const pod = await world.get('Pod', metadata.name)
  const endpoints = await world.get('Endpoints', 'a')
  const { lastTransitionTime } = pod.status.conditions.find((each: Loose) => each.type === 'Ready')
  expect(endpoints.metadata.annotations).toEqual({ [triggered]: lastTransitionTime })
  expect(lastTransitionTime).not.toBe(service.metadata.creationTimestamp)
  expect(endpoints.subsets[0]).toMatchObject({
    addresses: [{ targetRef: { kind: 'Pod' } }],
    notReadyAddresses: [{ ip: pod.status.podIP }],
    ports: [{ name: 'web', port: 8080, protocol: 'TCP' }],
  })
})

describe('pods and nodes', () => {
  const conditionOf = (pod: Loose, type: string) => pod.status.conditions.find((each: Loose) => each.type === type)

  test('init containers end before the others start, and sidecars run on', async () => {
    const initContainers = [
      { name: 'first', image: 'i' },
      { name: 'sidecar', image: 'i', restartPolicy: 'Always' },
    ]
    const annotations = { 'binnacle.dev/start-after': '10s' }
    await world.create('Pod', 'p', { spec: podTemplate('a', { initContainers }).spec }, { annotations })
    await world.idle()
    const waiting = await world.get('Pod', 'p')
    expect(conditionOf(waiting, 'Initialized')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotInitialized',
      message: 'containers with incomplete status: [first]',
    })
    expect(waiting.status.containerStatuses[0].state).toEqual({ waiting: { reason: 'PodInitializing' } })
    await world.advance(10_000)
    const running = await world.get('Pod', 'p')
    expect(conditionOf(running, 'Initialized').status).toBe('True')
    const states = running.status.initContainerStatuses.map(({ state }: Loose) => Object.keys(state)[0])
    expect(states).toEqual(['terminated', 'running'])
    expect(running.status.initContainerStatuses[0].state.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' })
  })

  test('an ephemeral container that is added to a running pod runs, and ends with the pod', async () => {
    const annotations = { 'binnacle.dev/complete-after': '1m' }
    await world.create('Pod', 'p', { spec: podTemplate('a', { restartPolicy: 'Never' }).spec }, { annotations })
    await world.idle()
    await world.change(
      'Pod',
      'p',
      pod => void (pod.spec.ephemeralContainers = [{ name: 'debugger', image: 'busybox' }]),
      'ephemeralcontainers',
    )
    await world.idle()
    const running = await world.get('Pod', 'p')
    expect(running.status.ephemeralContainerStatuses).toMatchObject([
      { name: 'debugger', ready: false, restartCount: 0, state: { running: {} } },
    ])
    expect(running.status.observedGeneration).toBe(running.metadata.generation)
    expect(conditionOf(running, 'Ready').status).toBe('True')
    await world.advance(60_000)
    const { status } = await world.get('Pod', 'p')
    expect(status.phase).toBe('Succeeded')
    expect(Object.keys(status.ephemeralContainerStatuses[0].state)).toEqual(['terminated'])
  })

  test('a pod with a readiness gate is ready when the condition is true', async () => {
    const readinessGates = [{ conditionType: 'example.com/in-rotation' }]
    await world.create('Pod', 'p', { spec: podTemplate('a', { readinessGates }).spec })
    await world.idle()
    const before = await world.get('Pod', 'p')
    expect(conditionOf(before, 'ContainersReady').status).toBe('True')
    expect(conditionOf(before, 'Ready')).toMatchObject({ status: 'False', reason: 'ReadinessGatesNotReady' })
    await world.change(
      'Pod',
      'p',
      pod => void pod.status.conditions.push({ type: 'example.com/in-rotation', status: 'True' }),
      'status',
    )
    await world.idle()
    expect(conditionOf(await world.get('Pod', 'p'), 'Ready').status).toBe('True')
  })

  test('a pod that fits nowhere says why, and is bound when there is room', async () => {
    const resources = { requests: { cpu: '40' } }
    await world.create('Pod', 'big', { spec: { containers: [{ name: 'c', image: 'i', resources }] } })
    await world.idle()
    const pod = await world.get('Pod', 'big')
    expect(pod.status.conditions[0]).toMatchObject({ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' })
    expect(pod.status.conditions[0].message).toMatch(/^0\/3 nodes are available: 3 Insufficient cpu\. /)
    await world.create('Node', 'large', { status: { capacity: { cpu: '64', memory: '64Gi', pods: '10' } } })
    await world.change(
      'Node',
      'large',
      node => {
        node.status.capacity = { cpu: '64' }
        node.status.allocatable = { cpu: '64' }
      },
      'status',
    )
    await world.idle()
    expect((await world.get('Pod', 'big')).spec.nodeName).toBe('large')
  })

  test('a container that fails is started again, at once and then ever later', async () => {
    await world.create('Pod', 'p', { spec: podTemplate('a').spec })
    await world.idle()
    const fail = () => world.workloads.simulation.pods.fail({ namespace: 'n', name: 'p' }, { reason: 'OOMKilled' })
    await fail()
    await world.idle()
    const status = async () => (await world.get('Pod', 'p')).status.containerStatuses[0]
    expect(await status()).toMatchObject({ restartCount: 1, ready: true, lastState: { terminated: { exitCode: 1 } } })
    await fail()
    await world.idle()
    expect((await status()).state.waiting.reason).toBe('CrashLoopBackOff')
    await world.advance(10_000)
    expect(await status()).toMatchObject({ restartCount: 2, ready: true })
  })

  test('the pods of a node that falls silent are evicted when they do not tolerate it any more', async () => {
    const tolerations = ['not-ready', 'unreachable'].map(key => ({
      key: `node.kubernetes.io/${key}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    }))
    await world.create('Deployment', 'a', {
      spec: { replicas: 3, selector, template: podTemplate('a', { tolerations }) },
    })
    await world.idle()
    await world.change('Node', 'node-1', node => {
      node.metadata.annotations = { 'binnacle.dev/silent': 'true' }
    })
    await world.advance(70_000)
    const node = await world.get('Node', 'node-1')
    expect(node.spec.taints.map((taint: Loose) => `${taint.key}:${taint.effect}`)).toEqual([
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
    ])
    expect((await world.get('Deployment', 'a')).status.availableReplicas).toBe(2)
    await world.advance(310_000)
    expect((await world.get('Deployment', 'a')).status.availableReplicas).toBe(3)
    await world.delete('Node', 'node-1')
    await world.advance(41_000)
    expect((await world.list('Pod')).map(pod => pod.spec.nodeName)).not.toContain('node-1')
  })
})

describe('budgets and volumes', () => {
  test('a PodDisruptionBudget allows as many evictions as it can spare', async () => {
    await world.create('Deployment', 'a', { spec: { replicas: 3, selector, template: podTemplate('a') } })
    await world.create('PodDisruptionBudget', 'b', { spec: { selector, maxUnavailable: 1 } })
    await world.idle()
    const status = async () => (await world.get('PodDisruptionBudget', 'b')).status
    expect(await status()).toMatchObject({
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
    })
    const [pod] = await world.list('Pod')
    await world.workloads.simulation.pods.setReady({ namespace: 'n', name: pod.metadata.name }, false)
    await world.idle()
    expect(await status()).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 2 })
    const [, other] = await world.list('Pod')
    const evict = world.workloads.simulation.pods.evict({ namespace: 'n', name: other.metadata.name })
    await expect(evict).rejects.toThrow("Cannot evict pod as it would violate the pod's disruption budget.")
  })

  test('a claim is bound to a volume that fits, or one is provisioned; with a consumer if the class waits', async () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    await world.create('PersistentVolume', 'static', {
      spec: { capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
    })
    await world.create('StorageClass', 'fast', { provisioner: 'example.com/disk' })
    await world.create('StorageClass', 'late', {
      provisioner: 'example.com/disk',
      volumeBindingMode: 'WaitForFirstConsumer',
    })
    await world.create('PersistentVolumeClaim', 'plain', { spec: { ...spec, storageClassName: '' } })
    await world.create('PersistentVolumeClaim', 'fast', { spec: { ...spec, storageClassName: 'fast' } })
    await world.create('PersistentVolumeClaim', 'late', { spec: { ...spec, storageClassName: 'late' } })
    await world.idle()
    const claim = (name: string) => world.get('PersistentVolumeClaim', name)
    expect(await claim('plain')).toMatchObject({ spec: { volumeName: 'static' }, status: { phase: 'Bound' } })
    const fast = await claim('fast')
    expect(fast).toMatchObject({ spec: { volumeName: `pvc-${fast.metadata.uid}` }, status: { phase: 'Bound' } })
    expect((await claim('late')).status.phase).toBe('Pending')
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'late' } }]
    await world.create('Pod', 'p', { spec: { ...podTemplate('a').spec, volumes } })
    await world.idle()
    expect((await claim('late')).status.phase).toBe('Bound')
    expect((await world.get('Pod', 'p')).status.phase).toBe('Running')
  })
})
