import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StatusError } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { parseCreateOptions } from '../../meta/options/write-options.js'
import type { ValueObject } from '../../meta/values/value.js'
import { systemRequest, withOptions } from '../../request/request.js'
import { openEnvelope, sealEnvelope } from '../../types/protobuf.js'
import { createWorld, type World } from '../api-world.suite.js'
import { createVirtual } from '../create-virtual.js'
import { podSubresources } from '../subresources.js'

const user = { name: 'test', uid: '', groups: [], extra: {} }
const NOW = Date.UTC(2024, 0, 1)

let world: World
beforeEach(() => {
  world = createWorld(() => NOW)
})
afterEach(() => world.context.close())

/** What is said of an object that is sent to a pod. */
async function send(part: string, name: string, object: ValueObject, query = ''): Promise<string> {
  const { context, pods, budgets } = world
  const kind = podSubresources(context, { pods, budgets }).find(({ resource: facts }) => facts.name === part)!
  const body = { bytes: Buffer.from(JSON.stringify(object)), mediaType: 'application/json' }
  const request = withOptions(
    systemRequest({ user, userAgent: 'test' }),
    parseCreateOptions(new URLSearchParams(query)),
  )
  try {
    const { status, object: answer } = await createVirtual(context, request, kind, { namespace: 'x', name }, body)
    return `${status} ${answer['status'] as string}`
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const [cause] = error.status.details?.causes ?? []
    return `${error.status.code} ${cause?.message ?? error.message}`
  }
}

const podNow = (): Promise<ApiObject | undefined> => world.find(world.pods, 'x', 'p')

describe('a binding', () => {
  const bind = (binding: ValueObject = {}, query = ''): Promise<string> =>
    send('pods/binding', 'p', { metadata: { name: 'p' }, target: { name: 'n' }, ...binding }, query)

  test('sets the node of the pod, and adds labels and annotations', async () => {
    await world.createPod('x', 'p')
    expect(await bind({ metadata: { name: 'p', labels: { a: 'b' }, annotations: { c: 'd' } } })).toBe('201 Success')
    const conditions = [
      { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: '2024-01-01T00:00:00Z' },
    ]
    expect(await podNow()).toMatchObject({
      metadata: { generation: 1, labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: { nodeName: 'n' },
      status: { conditions },
    })
    expect(await bind()).toMatch(/^409 .*pod p is already assigned to node "n"$/)
  })

  test('changes nothing in a dry run', async () => {
    await world.createPod('x', 'p')
    expect(await bind({}, 'dryRun=All')).toBe('201 Success')
    expect((await podNow())!['spec']).not.toHaveProperty('nodeName')
  })

  test('is refused if the pod is absent, has a node, or is another one', async () => {
    expect(await bind()).toBe('404 pods "p" not found')
    await world.createPod('x', 'p', { schedulingGates: [{ name: 'a.b/c' }] })
    expect(await bind()).toMatch(/^409 .*pod p has non-empty \.spec\.schedulingGates$/)
    expect(await bind({ metadata: { name: 'q' } })).toBe('400 name in URL does not match name in Binding object')
    expect(await bind({ metadata: { name: 'p', uid: 'other' } })).toMatch(/^409 .*UID in precondition: other/)
    expect(await bind({ target: { kind: 'Pod' } })).toBe(
      '500 [target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", target.name: Required value]',
    )
  })

  test('may be sent to the older path, which does not name the pod', async () => {
    await world.createPod('x', 'p')
    expect(await send('bindings', '', { metadata: { name: 'p' }, target: { name: 'n' } })).toBe('201 Success')
    expect(await podNow()).toMatchObject({ spec: { nodeName: 'n' } })
  })
})

describe('an eviction', () => {
  const evict = (rest: ValueObject = {}, query = ''): Promise<string> =>
    send('pods/eviction', 'p', { metadata: { name: 'p' }, ...rest }, query)

  async function run(ready: 'True' | 'False' = 'True'): Promise<void> {
    await world.createPod('x', 'p', { nodeName: 'n' }, { labels: { app: 'a' } })
    await world.setStatus(world.pods, 'x', 'p', { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] })
  }

  async function budget(status: ValueObject, spec: ValueObject = {}, name = 'b'): Promise<void> {
    await world.create(world.budgets, 'x', name, {}, { spec: { selector: { matchLabels: { app: 'a' } }, ...spec } })
    await world.setStatus(world.budgets, 'x', name, { observedGeneration: 1, ...status })
  }

  test('may be of the older version of its group', async () => {
    await run()
    expect(await evict({ apiVersion: 'policy/v1beta1', kind: 'Other' })).toMatch(/^400 .*no kind "Other" is registered/)
    expect(await evict({ apiVersion: 'policy/v1beta1', kind: 'Eviction' })).toBe('201 Success')
  })

  test('may be of the older version in protobuf', () => {
    const { context, pods, budgets } = world
    const { body } = podSubresources(context, { pods, budgets }).find(
      ({ resource }) => resource.name === 'pods/eviction',
    )!
    const bytes = body.protobuf!.encode({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } })
    const older = sealEnvelope('policy/v1beta1', 'Eviction', openEnvelope(bytes).raw)
    expect(body.protobuf!.decode(older)).toMatchObject({ apiVersion: 'policy/v1', metadata: { name: 'p' } })
  })

  test('deletes the pod with its grace period, and sets the condition', async () => {
    await run()
    expect(await evict()).toBe('201 Success')
    const pod = (await podNow())!
    expect(pod.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 })
    expect(pod).toMatchObject({
      status: { conditions: [{ type: 'Ready' }, { type: 'DisruptionTarget', reason: 'EvictionByEvictionAPI' }] },
    })
    expect(await evict({ deleteOptions: { gracePeriodSeconds: 0 } })).toBe('201 Success')
    expect(await podNow()).toBeUndefined()
  })

  test('changes nothing in a dry run', async () => {
    await run()
    await budget({ disruptionsAllowed: 1 })
    expect(await evict({}, 'dryRun=All')).toBe('201 Success')
    expect((await podNow())!.metadata).not.toHaveProperty('deletionTimestamp')
    expect(await world.find(world.budgets, 'x', 'b')).toMatchObject({ status: { disruptionsAllowed: 1 } })
  })

  test('counts for the budget', async () => {
    await run()
    await budget({ disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 })
    expect(await evict()).toBe('201 Success')
    expect(await world.find(world.budgets, 'x', 'b')).toMatchObject({
      status: {
        disruptionsAllowed: 0,
        disruptedPods: { p: '2024-01-01T00:00:00Z' },
        conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
      },
    })
  })

  test.each<[string, ValueObject, ValueObject, 'True' | 'False', string]>([
    [
      'has not been looked at',
      { observedGeneration: 0 },
      {},
      'True',
      '429 The disruption budget b is still being processed by the server.',
    ],
    [
      'has none left',
      { desiredHealthy: 2, currentHealthy: 2 },
      {},
      'True',
      '429 The disruption budget b needs 2 healthy pods and has 2 currently',
    ],
    [
      'allows none',
      { desiredHealthy: 1, currentHealthy: 2 },
      {},
      'True',
      '429 The disruption budget b does not allow evicting pods currently',
    ],
    ['does not need a pod that is not ready', { desiredHealthy: 1, currentHealthy: 1 }, {}, 'False', '201 Success'],
    [
      'needs the pod, ready or not',
      { desiredHealthy: 2, currentHealthy: 1 },
      {},
      'False',
      '429 The disruption budget b needs 2 healthy pods and has 1 currently',
    ],
    [
      'does not mind about pods that are not ready',
      { desiredHealthy: 2, currentHealthy: 1 },
      { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      'False',
      '201 Success',
    ],
    [
      'is not meant for the pod',
      { observedGeneration: 0 },
      { selector: { matchLabels: { app: 'b' } } },
      'True',
      '201 Success',
    ],
  ])('of a pod whose budget %s', async (_, status, spec, ready, answer) => {
    await run(ready)
    await budget(status, spec)
    expect(await evict()).toBe(answer)
  })

  test('is refused if the pod has two budgets', async () => {
    await run()
    await budget({ disruptionsAllowed: 1 })
    await budget({ disruptionsAllowed: 1 }, {}, 'c')
    expect(await evict()).toMatch(/^500 This pod has more than one PodDisruptionBudget/)
  })

  test('ignores budgets if the pod is pending', async () => {
    await world.createPod('x', 'p', {}, { labels: { app: 'a' } })
    await budget({ disruptionsAllowed: 0 })
    expect(await evict()).toBe('201 Success')
    expect(await podNow()).toBeUndefined()
  })

  test('with a resourceVersion is refused for another version', async () => {
    await run()
    expect(await evict({ deleteOptions: { preconditions: { resourceVersion: '1' } } })).toMatch(/^409 /)
    expect(await evict({ deleteOptions: { preconditions: { uid: 'other' } } })).toMatch(/^409 /)
    expect(await podNow()).toBeDefined()
  })
})
