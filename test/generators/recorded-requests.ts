// The requests of the recordings, without their answers.
import { readdirSync, readFileSync } from 'node:fs'
import { isObject, type Value, type ValueObject } from '../../src/meta/values/value.js'

export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Value | undefined
}

interface RecordedStep extends RecordedRequest {
  readonly expect: { readonly status?: number }
}

interface Scenario {
  readonly steps: readonly Partial<RecordedStep>[]
}

interface Recording {
  readonly scenarios: readonly Scenario[]
}

const folder = new URL('../conformance/recordings/', import.meta.url)

/** The requests of each scenario, in their order. */
export const recordedScenarios = (): RecordedRequest[][] =>
  scenarios()
    .map(({ steps }) => steps.flatMap(asRequest))
    .filter(steps => steps.length > 0)

/** For each kind the shortest object that kube-apiserver has created, by `apps/v1 Deployment`. */
export function acceptedObjects(): ReadonlyMap<string, ValueObject> {
  const shortest = new Map<string, { object: ValueObject; length: number }>()
  for (const { method, body, expect } of scenarios().flatMap(({ steps }) => steps)) {
    if (method !== 'POST' || expect?.status !== 201 || !isObject(body)) continue
    const { apiVersion, kind: name } = body
    if (typeof apiVersion !== 'string' || typeof name !== 'string') continue
    const kind = `${apiVersion} ${name}`
    const { length } = JSON.stringify(body)
    if (length < (shortest.get(kind)?.length ?? Infinity)) shortest.set(kind, { object: body, length })
  }
  return new Map([...shortest].map(([kind, { object }]) => [kind, object]))
}

function scenarios(): Scenario[] {
  const files = readdirSync(folder).filter(name => name.endsWith('.json'))
  return files.flatMap(name => (JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Recording).scenarios)
}

function asRequest({ method = 'GET', path, headers = {}, body }: Partial<RecordedRequest>): RecordedRequest[] {
  // Steps that refer to earlier answers are used as they are: a wrong reference is a wrong request.
  return typeof path === 'string' && path.startsWith('/') && !isWatch(path) ? [{ method, path, headers, body }] : []
}

const isWatch = (path: string): boolean => /[?&]watch=/.test(path) || path.includes('/watch/')
