// The requests of the recordings, without their answers.
import { readdirSync, readFileSync } from 'node:fs'
import type { Value } from '../../src/meta/values/value.js'

export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Value | undefined
}

interface Recording {
  readonly scenarios: readonly { readonly steps: readonly Partial<RecordedRequest>[] }[]
}

const folder = new URL('../conformance/recordings/', import.meta.url)

export function recordedRequests(): RecordedRequest[] {
  const files = readdirSync(folder).filter(name => name.endsWith('.json'))
  return files.flatMap(name => {
    const { scenarios } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Recording
    return scenarios.flatMap(({ steps }) => steps.flatMap(asRequest))
  })
}

function asRequest({ method = 'GET', path, headers = {}, body }: Partial<RecordedRequest>): RecordedRequest[] {
  // Steps that refer to earlier answers are used as they are: a wrong reference is a wrong request.
  return typeof path === 'string' && path.startsWith('/') && !isWatch(path) ? [{ method, path, headers, body }] : []
}

const isWatch = (path: string): boolean => /[?&]watch=/.test(path) || path.includes('/watch/')
