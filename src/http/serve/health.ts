// The health checks: /healthz, /livez, /readyz.
import { quote } from '../../meta/go/go-text.js'
import type { PathHandler } from './paths.js'

/** Resolves if healthy, and rejects with the reason if not: an Unhealthy where everyone may read a part of it. */
export type HealthCheck = () => Promise<void>

export class Unhealthy extends Error {
  override readonly name = 'Unhealthy'

  constructor(
    message: string,
    /** Without addresses and file names, because the page of all checks is open to everyone. */
    readonly publicReason: string,
  ) {
    super(message)
  }
}

/** Is given the result of each check that the page of all checks makes. */
export type ObserveCheck = (name: string, isWell: boolean) => void

/** All checks at `path`, and each check at a path below it. */
export function healthPaths(
  path: string,
  checks: Readonly<Record<string, HealthCheck>>,
  observe?: ObserveCheck,
): [string, PathHandler][] {
  const each = Object.entries(checks).map(([name, check]): [string, PathHandler] => [
    `${path}/${name}`,
    async ({ reply }) => {
      const error = await errorOf(check)
      if (error === undefined) reply.text(200, 'ok')
      else reply.text(500, `internal server error: ${error.message}\n`)
    },
  ])
  return [[path, allChecks(path.slice(1), checks, observe)], ...each]
}

function allChecks(
  title: string,
  checks: Readonly<Record<string, HealthCheck>>,
  observe: ObserveCheck | undefined,
): PathHandler {
  return async ({ info: { query }, reply }) => {
    const excluded = new Set(query.getAll('exclude'))
    const lines: string[] = []
    let isWell = true
    for (const [name, check] of Object.entries(checks)) {
      const isExcluded = excluded.delete(name)
      const error = isExcluded ? undefined : await errorOf(check)
      if (error) isWell = false
      if (!isExcluded) observe?.(name, error === undefined)
      if (isExcluded) lines.push(`[+]${name} excluded: ok`)
      else if (!error) lines.push(`[+]${name} ok`)
      else lines.push(`[-]${name} failed: ${error instanceof Unhealthy ? error.publicReason : 'reason withheld'}`)
    }
    if (excluded.size > 0) {
      const unknown = [...excluded].toSorted().map(quote).join(',')
      lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown}`)
    }
    if (!isWell) reply.text(500, `${lines.join('\n')}\n${title} check failed\n`)
    else if (query.has('verbose')) reply.text(200, `${lines.join('\n')}\n${title} check passed\n`)
    else reply.text(200, 'ok')
  }
}

async function errorOf(check: HealthCheck): Promise<Error | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
