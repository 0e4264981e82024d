// Autoscalers: what kube-controller-manager v1.36.4 wrote for the same objects and metrics, and what follows with the time.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Loose, podTemplate, type SimulatedWorld, startSimulatedWorld } from '../world.suite.js'

const METRICS = 'binnacle.dev/metrics'
const PERIOD_MS = 15_000
const CASES = JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8')) as Loose[]
const given = (metrics: Loose) => (metrics ? { annotations: { [METRICS]: JSON.stringify(metrics) } } : {})

describe('as kube-controller-manager', () => {
  let world: SimulatedWorld
  beforeAll(async () => {
    world = await startSimulatedWorld({ simulates: false, controllers: ['horizontal-pod-autoscaler-controller'] })
    for (const each of CASES) await createCase(each)
    await world.advance(PERIOD_MS)
  })
  afterAll(() => world.stop())

  async function createCase({ name, replicas, pods, ...rest }: Loose): Promise<void> {
    const selector = { matchLabels: { app: name } }
    await world.create('Deployment', name, { spec: { replicas, selector, template: podTemplate(name) } })
    await world.change('Deployment', name, object => void (object.status = { replicas }), 'status')
    const startTime = '2025-12-31T23:00:00Z'
    for (const [i, { cpu, phase = 'Running', ready = true }] of pods.entries()) {
      const resources = cpu ? { resources: { requests: { cpu } } } : {}
      const own = rest.perPod?.cpu[i] ? given({ cpu: rest.perPod.cpu[i] }) : {}
      const containers = [{ name: 'c', image: 'i', ...resources }]
      await world.create('Pod', `${name}-p${i}`, { spec: { containers } }, { labels: { app: name }, ...own })
      const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: startTime }]
      const status = phase === 'Pending' ? { phase } : { phase, startTime, conditions }
      await world.change('Pod', `${name}-p${i}`, object => void (object.status = status), 'status')
    }
    const scaleTargetRef = rest.target ?? { apiVersion: 'apps/v1', kind: 'Deployment', name }
    const { metrics, behavior, min: minReplicas = 1, max: maxReplicas } = rest
    const spec = { scaleTargetRef, minReplicas, maxReplicas, metrics, ...(behavior && { behavior }) }
    await world.create('HorizontalPodAutoscaler', name, { spec }, given(rest.given))
  }

  test.each(CASES)('$name', async ({ name, recorded }: Loose) => {
    const { lastScaleTime, ...status } = (await world.get('HorizontalPodAutoscaler', name)).status
    const { conditions, ...rest } = status
    const untimed = conditions.map(({ lastTransitionTime, ...condition }: Loose) => {
      expect(lastTransitionTime).toBe('2026-01-01T00:00:15Z')
      return condition
    })
    // The recording has the same names in every namespace, this world has one namespace.
    const renamed = (value: unknown): Loose =>
      JSON.parse(JSON.stringify(value).replaceAll(` Pod ${name}-p`, ' Pod p').replaceAll(' n/', ` h-${name}/`))
    expect(renamed({ ...rest, conditions: untimed })).toEqual(recorded.status)
    expect((await world.get('Deployment', name)).spec.replicas).toBe(recorded.replicas)
    const events = (await world.list('Event')).filter(({ involvedObject }) => involvedObject.name === name)
    const texts = events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
    expect(renamed(texts).toSorted()).toEqual(recorded.events.toSorted())
    const isScaled = recorded.events.some((text: string) => text.includes('SuccessfulRescale'))
    expect(lastScaleTime).toBe(isScaled ? '2026-01-01T00:00:15Z' : undefined)
  })
})

describe('with simulated pods', () => {
  let world: SimulatedWorld
  beforeAll(async () => {
    const controllers = ['deployment', 'replicaset', 'horizontal-pod-autoscaler'].map(name => `${name}-controller`)
    world = await startSimulatedWorld({ nodes: 1, controllers })
    const template = podTemplate('web', {
      containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }],
    })
    const selector = { matchLabels: { app: 'web' } }
    await world.create('Deployment', 'web', { spec: { replicas: 1, selector, template } })
    const target = { type: 'Utilization', averageUtilization: 50 }
    const spec = {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: 10,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
    }
    await world.create('HorizontalPodAutoscaler', 'web', { spec }, given({ cpu: { total: '3' } }))
  })
  afterAll(() => world.stop())

  const replicas = async () => (await world.get('Deployment', 'web')).status.readyReplicas
  const give = (metrics: object) =>
    world.change('HorizontalPodAutoscaler', 'web', object => {
      object.metadata.annotations[METRICS] = JSON.stringify(metrics)
    })

  test('a load that the pods share is met in steps, and the pods go when it has been low for five minutes', async () => {
    await world.advance(PERIOD_MS)
    expect(await replicas()).toBe(4)
    await world.advance(PERIOD_MS)
    expect(await replicas()).toBe(6)
    await give({ cpu: { total: '1' } })
    await world.advance(PERIOD_MS)
    expect(await replicas()).toBe(6)
    const { status } = await world.get('HorizontalPodAutoscaler', 'web')
    expect(status.conditions[0]).toMatchObject({ type: 'AbleToScale', reason: 'ScaleDownStabilized' })
    await world.advance(300_000)
    expect(await replicas()).toBe(2)
  })

  test('a wrong annotation is named in the condition', async () => {
    await world.change('HorizontalPodAutoscaler', 'web', object => void (object.metadata.annotations[METRICS] = 'high'))
    await world.advance(PERIOD_MS)
    const { status } = await world.get('HorizontalPodAutoscaler', 'web')
    expect(status.conditions[1]).toMatchObject({ type: 'ScalingActive', status: 'False' })
    expect(status.conditions[1].message).toContain('annotation binnacle.dev/metrics: it must be a JSON object')
  })
})
