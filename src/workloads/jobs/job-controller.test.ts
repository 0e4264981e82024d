import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Loose, podTemplate, type SimulatedWorld, startSimulatedWorld } from '../world.suite.js'

let world: SimulatedWorld
beforeEach(async () => {
  world = await startSimulatedWorld()
})
afterEach(() => world.stop())

const create = (spec: object = {}, annotations: object = {}, restartPolicy = 'Never') =>
  world.create('Job', 'j', { spec: { template: podTemplate('j', { restartPolicy }, { annotations }), ...spec } })
const conditions = async (): Promise<string[]> =>
  ((await world.get('Job', 'j')).status.conditions ?? []).map((each: Loose) => `${each.type} ${each.reason}`)

test('a Job completes when its pods have', async () => {
  await create({ completions: 3, parallelism: 2 })
  await world.idle()
  const { status } = await world.get('Job', 'j')
  expect(status).toMatchObject({ succeeded: 3, ready: 0, terminating: 0, uncountedTerminatedPods: {} })
  expect(status.completionTime).toBeDefined()
  expect(await conditions()).toEqual(['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached'])
  expect((await world.list('Pod')).map(pod => [pod.status.phase, pod.metadata.finalizers])).toEqual(
    Array.from({ length: 3 }, () => ['Succeeded', undefined]),
  )
  expect((await world.events('j')).at(-1)).toBe('Completed: Job completed')
})

test('an Indexed Job has a pod for each index', async () => {
  await create({ completions: 3, parallelism: 3, completionMode: 'Indexed' })
  await world.idle()
  expect((await world.get('Job', 'j')).status).toMatchObject({ succeeded: 3, completedIndexes: '0-2' })
  const pods = await world.list('Pod')
  expect(pods.map(pod => pod.spec.hostname).toSorted((a: string, b: string) => (a < b ? -1 : 1))).toEqual([
    'j-0',
    'j-1',
    'j-2',
  ])
  expect(pods[0].spec.containers[0].env[0].name).toBe('JOB_COMPLETION_INDEX')
})

test('failed pods are replaced, each time later, until the backoff limit', async () => {
  await create({ backoffLimit: 2 }, { 'binnacle.dev/fail-after': '0s' })
  await world.idle()
  expect((await world.get('Job', 'j')).status).toMatchObject({ failed: 1 })
  await world.advance(9_000)
  expect(await world.list('Pod')).toHaveLength(1)
  await world.advance(2_000)
  expect(await world.list('Pod')).toHaveLength(2)
  await world.advance(60_000)
  expect((await world.get('Job', 'j')).status).toMatchObject({ failed: 3 })
  expect(await conditions()).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'])
})

test('the pod failure policy may ignore a failure, or fail the Job', async () => {
  await world.stop()
  world = await startSimulatedWorld({ completeAfterMs: undefined })
  const rules = [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
    { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
  ]
  await create({ podFailurePolicy: { rules }, backoffLimit: 0 })
  await world.idle()
  const name = async (): Promise<string> =>
    (await world.list('Pod')).find(pod => pod.status.phase === 'Running').metadata.name
  await world.workloads.simulation.pods.fail(
    { namespace: 'n', name: await name() },
    { podReason: 'Evicted', disruption: 'TerminationByKubelet' },
  )
  await world.advance(11_000)
  expect((await world.get('Job', 'j')).status.failed).toBeUndefined()
  const failing = await name()
  await world.workloads.simulation.pods.fail({ namespace: 'n', name: failing }, { exitCode: 42 })
  await world.idle()
  const { status } = await world.get('Job', 'j')
  expect(status.conditions.at(-1)).toMatchObject({
    type: 'Failed',
    reason: 'PodFailurePolicy',
    message: `Container c for pod n/${failing} failed with exit code 42 matching FailJob rule at index 1`,
  })
})

test('a success policy ends the Job before all indexes have succeeded', async () => {
  await world.stop()
  world = await startSimulatedWorld({ completeAfterMs: undefined })
  const successPolicy = { rules: [{ succeededIndexes: '1' }] }
  await create({ completions: 3, parallelism: 3, completionMode: 'Indexed', successPolicy })
  await world.idle()
  const pod = (await world.list('Pod')).find(each => each.spec.hostname === 'j-1')
  await world.workloads.simulation.pods.complete({ namespace: 'n', name: pod.metadata.name })
  await world.idle()
  expect(await conditions()).toEqual(['SuccessCriteriaMet SuccessPolicy', 'Complete SuccessPolicy'])
})

test('a suspended Job has no pods, and runs when it is resumed', async () => {
  await create({ suspend: true })
  await world.idle()
  expect(await conditions()).toEqual(['Suspended JobSuspended'])
  expect(await world.list('Pod')).toEqual([])
  await world.change('Job', 'j', job => {
    job.spec.suspend = false
  })
  await world.idle()
  expect((await conditions()).at(-1)).toBe('Complete CompletionsReached')
})

test('a Job fails when it has been active for too long', async () => {
  await create({ activeDeadlineSeconds: 60 }, { 'binnacle.dev/complete-after': 'never' })
  await world.idle()
  await world.advance(61_000)
  expect((await conditions()).at(-1)).toBe('Failed DeadlineExceeded')
  expect((await world.list('Pod')).filter(pod => pod.status.phase === 'Running')).toEqual([])
})
