// The report of a test that failed, in test frameworks whose context of a test says so.
import { UsageError } from '../../base/usage-error.js'
import type { Recording } from './recording.js'

/** What a test in Vitest is given, or `{ onTestFailed }` as it is imported. */
interface VitestContext {
  onTestFailed(run: () => void): void
}

/** What a test of node:test is given. */
interface NodeTestContext {
  readonly passed: boolean
  after(run: () => void): void
}

export type TestContext = VitestContext | NodeTestContext

/** Prints the report after the test if it has failed. */
export function printIfFailed(context: TestContext, recording: Pick<Recording, 'report'>): void {
  const print = (): void => console.error(recording.report())
  if (isVitest(context)) context.onTestFailed(print)
  else if (isNodeTest(context)) context.after(() => context.passed || print())
  else throw new UsageError(HELP)
}

const HELP =
  'reportFailure takes the context of a test in Vitest or in node:test (Node.js 20.12 or newer); elsewhere use server.recorded(async () => { … })'

const isVitest = (context: TestContext | undefined): context is VitestContext =>
  typeof (context as Partial<VitestContext> | undefined)?.onTestFailed === 'function'

function isNodeTest(context: TestContext | undefined): context is NodeTestContext {
  const { passed, after } = (context ?? {}) as Partial<NodeTestContext>
  return typeof passed === 'boolean' && typeof after === 'function'
}
