// Replays every recorded scenario against a server and returns the outcomes.
import { readdirSync, readFileSync } from 'node:fs'
import { acceptedAnswers } from './accepted-answers.mjs'
import { Client, cleanUp, differencesFromAll, runScenario, type Scenario, type Webhooks } from './runner.mjs'
import { startWebhooks } from './webhooks.mjs'

export interface ReplayOptions {
  readonly url: string
  readonly token: string
  /** The folder of the recordings. */
  readonly folder?: string
}

/** The first difference of a scenario; undefined if it passed. */
export type Outcomes = Map<string, string | undefined>

const JOBS = 16

export function readScenarios(folder = 'recordings'): Scenario[] {
  const directory = new URL(`./${folder}/`, import.meta.url)
  return readdirSync(directory)
    .filter(name => name.endsWith('.json'))
    .toSorted()
    .flatMap(
      name => (JSON.parse(readFileSync(new URL(name, directory), 'utf8')) as { scenarios: Scenario[] }).scenarios,
    )
}

export async function replayAll({ url, token, folder }: ReplayOptions): Promise<Outcomes> {
  const client = new Client({ url, token, insecure: true })
  const outcomes: Outcomes = new Map()
  const webhooks = new Map<number, Webhooks>()
  const scenarios = readScenarios(folder)
  for (const { webhooks: port } of scenarios) {
    if (port && !webhooks.has(port)) webhooks.set(port, await startWebhooks(port))
  }

  async function replay(scenario: Scenario): Promise<void> {
    const expected = scenario.steps.map((_, i) => acceptedAnswers(scenario.steps, i))
    const hooks = scenario.webhooks === undefined ? undefined : webhooks.get(scenario.webhooks)
    try {
      await cleanUp(client, scenario)
      hooks?.calls()
      await runScenario(client, scenario, {
        expected: i => expected[i],
        webhooks: hooks,
        // The first difference is enough: later ones would only follow from it.
        onStep(i, result) {
          const [difference] = expected[i] ? differencesFromAll(result, expected[i]) : []
          if (difference !== undefined) throw new Error(`step ${i}: ${difference}`)
        },
      })
      outcomes.set(scenario.name, undefined)
    } catch (error) {
      outcomes.set(scenario.name, error instanceof Error ? error.message : String(error))
    }
    await cleanUp(client, scenario).catch(() => {})
  }

  // Scenarios with webhooks share one log of calls.
  const together = scenarios.filter(scenario => !scenario.webhooks)
  const alone = scenarios.filter(scenario => scenario.webhooks)
  try {
    const job = async () => {
      for (let next = together.shift(); next; next = together.shift()) await replay(next)
    }
    await Promise.all(Array.from({ length: JOBS }, job))
    for (const scenario of alone) await replay(scenario)
    // Scenarios share one server and its users, so one may affect another: a failure counts only if it is repeated when
    // the scenario runs alone.
    for (const scenario of scenarios.filter(({ name }) => outcomes.get(name) !== undefined)) await replay(scenario)
  } finally {
    for (const server of webhooks.values()) server.close()
    client.close()
  }
  return outcomes
}
