// The health checks: /healthz, /livez, /readyz.
import { quote } from '../../meta/go/go-text.js'
import type { PathHandler } from './paths.js'

/** Resolves if healthy, and rejects with the reason if not: an Unhealthy where everyone may read a part of it. */
export interface HealthCheck {
  (): Promise<void>
  /** `?exclude=` of this name leaves it out, too. */
  readonly group?: string
}

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
    const unknown = new Set(excluded)
    const lines: string[] = []
    let isWell = true
    for (const [name, check] of Object.entries(checks)) {
      const excludedBy = [name, check.group].find(each => each !== undefined && excluded.has(each))
      if (excludedBy !== undefined) {
        unknown.delete(excludedBy)
        lines.push(`[+]${name} excluded${excludedBy === name ? '' : ` with ${excludedBy}`}: ok`)
        continue
      }
      const error = await errorOf(check)
      if (error) isWell = false
      observe?.(name, error === undefined)
      if (!error) lines.push(`[+]${name} ok`)
      else lines.push(`[-]${name} failed: ${error instanceof Unhealthy ? error.publicReason : 'reason withheld'}`)
    }
    if (unknown.size > 0) {
      const names = [...unknown].toSorted().map(quote).join(',')
      lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
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
