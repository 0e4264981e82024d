// Replays every recorded scenario against a server and tells which ones came out as recorded.
import { readdirSync, readFileSync } from 'node:fs'
import { Client, cleanUp, differences, runScenario, type Scenario, type Webhooks } from './runner.mjs'
import { startWebhooks } from './webhooks.mjs'

export interface ReplayOptions {
  readonly url: string
  readonly token: string
  /** Scenarios that are expected to fail; they are not waited for as long as others. */
  readonly pending: ReadonlySet<string>
}

/** The outcome of a scenario: nothing where all was as recorded, else its first difference. */
export type Outcomes = Map<string, string | undefined>

/** How long a pending scenario may poll for a state that it will not see. */
const PENDING_WAIT_MS = 100
const JOBS = 16

export function readScenarios(): Scenario[] {
  const folder = new URL('./recordings/', import.meta.url)
  return readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .toSorted()
    .flatMap(name => (JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { scenarios: Scenario[] }).scenarios)
}

export async function replayAll({ url, token, pending }: ReplayOptions): Promise<Outcomes> {
  const client = new Client({ url, token, insecure: true })
  const outcomes: Outcomes = new Map()
  const webhooks = new Map<number, Webhooks>()
  const scenarios = readScenarios()
  for (const { webhooks: port } of scenarios) {
    if (port && !webhooks.has(port)) webhooks.set(port, await startWebhooks(port))
  }

  async function replay(scenario: Scenario): Promise<void> {
    const steps = pending.has(scenario.name)
      ? scenario.steps.map(step => (step.eventually ? { ...step, timeoutMs: PENDING_WAIT_MS } : step))
      : scenario.steps
    const expected = steps.map(step => step.expect)
    for (const want of expected) want?.warnings?.sort()
    const hooks = scenario.webhooks === undefined ? undefined : webhooks.get(scenario.webhooks)
    try {
      await cleanUp(client, scenario)
      hooks?.calls()
      await runScenario(
        client,
        { ...scenario, steps },
        {
          expected: i => expected[i],
          webhooks: hooks,
          // One difference is enough to know: the rest of the scenario would only follow from it.
          onStep(i, result) {
            const [difference] = expected[i] ? differences(result, expected[i]) : []
            if (difference !== undefined) throw new Error(`step ${i}: ${difference}`)
          },
        },
      )
      outcomes.set(scenario.name, undefined)
    } catch (error) {
      outcomes.set(scenario.name, error instanceof Error ? error.message : String(error))
    }
    await cleanUp(client, scenario).catch(() => {})
  }

  // Those with webhooks share one log of calls.
  const together = scenarios.filter(scenario => !scenario.webhooks)
  const alone = scenarios.filter(scenario => scenario.webhooks)
  try {
    const job = async () => {
      for (let next = together.shift(); next; next = together.shift()) await replay(next)
    }
    await Promise.all(Array.from({ length: JOBS }, job))
    for (const scenario of alone) await replay(scenario)
    // They share one server and its users, so that what one did may have shown in another: a surprise, be it a failure
    // or a pass, is believed when it comes a second time, alone.
    const surprising = scenarios.filter(({ name }) => (outcomes.get(name) === undefined) === pending.has(name))
    for (const scenario of surprising) await replay(scenario)
  } finally {
    for (const server of webhooks.values()) server.close()
    client.close()
  }
  return outcomes
}
