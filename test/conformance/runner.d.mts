// What conformance.test.ts uses of runner.mjs.
export interface Step {
  readonly method?: string
  readonly path?: string
  readonly expect?: Expected
  readonly eventually?: boolean
  readonly timeoutMs?: number
}
export interface Expected {
  readonly status?: number
  readonly warnings?: string[]
}
export interface Scenario {
  readonly name: string
  readonly steps: readonly Step[]
  readonly webhooks?: number
}
export interface Webhooks {
  calls(): unknown[]
  close(): void
}
export class Client {
  constructor(options: { url: string; token?: string; insecure?: boolean })
  close(): void
}
export function runScenario(
  client: Client,
  scenario: Scenario,
  options: {
    expected: (step: number) => readonly Expected[] | undefined
    onStep?: (step: number, result: unknown) => void
    webhooks?: Webhooks | undefined
  },
): Promise<unknown[]>
export function cleanUp(client: Client, scenario: Scenario): Promise<void>
export function differencesFromAll(got: unknown, accepted: readonly Expected[]): string[]
