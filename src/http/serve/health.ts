// The health checks: /healthz, /livez, /readyz.
import { quote } from '../../meta/go/go-text.js'
import type { PathHandler } from './paths.js'

/** Resolves if healthy, and rejects with the reason if not. */
export type HealthCheck = () => Promise<void>

/** All checks at `path`, and each check at a path below it. */
export function healthPaths(path: string, checks: Readonly<Record<string, HealthCheck>>): [string, PathHandler][] {
  const each = Object.entries(checks).map(([name, check]): [string, PathHandler] => [
    `${path}/${name}`,
    async ({ reply }) => {
      const error = await reasonOf(check)
      if (error === undefined) reply.text(200, 'ok')
      else reply.text(500, `internal server error: ${error}\n`)
    },
  ])
  return [[path, allChecks(path.slice(1), checks)], ...each]
}

function allChecks(title: string, checks: Readonly<Record<string, HealthCheck>>): PathHandler {
  return async ({ info: { query }, reply }) => {
    const excluded = new Set(query.getAll('exclude'))
    const lines: string[] = []
    let isWell = true
    for (const [name, check] of Object.entries(checks)) {
      if (excluded.delete(name)) lines.push(`[+]${name} excluded: ok`)
      else if ((await reasonOf(check)) === undefined) lines.push(`[+]${name} ok`)
      else {
        isWell = false
        lines.push(`[-]${name} failed: reason withheld`)
      }
    }
    if (excluded.size > 0) {
      const unknown = [...excluded].toSorted().map(quote).join(', ')
      lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown}`)
    }
    if (!isWell) reply.text(500, `${lines.join('\n')}\n${title} check failed\n`)
    else if (query.has('verbose')) reply.text(200, `${lines.join('\n')}\n${title} check passed\n`)
    else reply.text(200, 'ok')
  }
}

async function reasonOf(check: HealthCheck): Promise<string | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
