// Decodes every recorded body: it is accepted, or refused with the recorded message.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodeCbor } from './cbor/decode.js'
import { CodecError } from './codec-error.js'
import type { Decoded } from './decoded.js'
import { decodeJson } from './json/decode.js'
import { decodeYaml } from './yaml/decode.js'
import { encodeYaml } from './yaml/encode.js'

interface Step {
  method?: string
  headers?: Record<string, string>
  body?: unknown
  expect?: { status?: number; contentType?: string; warnings?: string[]; body?: unknown }
}

const folder = new URL('../../test/conformance/recordings/', import.meta.url)
const steps = readdirSync(folder)
  .filter(file => file.endsWith('.json'))
  .flatMap(
    file => (JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as { scenarios: { steps: Step[] }[] }).scenarios,
  )
  .flatMap(scenario => scenario.steps)

const DECODERS: readonly [string, (bytes: Uint8Array) => Decoded][] = [
  ['json', decodeJson],
  ['yaml', decodeYaml],
  ['cbor', decodeCbor],
]

describe.each(DECODERS)('bodies in %s', (format, decode) => {
  const sent = steps.flatMap(step => {
    const type = step.headers?.['content-type'] ?? 'application/json'
    const body = bodyOf(step)
    return body !== undefined && type.includes(format) && step.expect?.status !== undefined ? [{ ...step, body }] : []
  })

  it('are decoded if they were accepted, with the reported duplicates', () => {
    const accepted = sent.filter(step => step.expect!.status! < 300)
    expect(accepted.length).toBeGreaterThan(20)
    for (const step of accepted) {
      const { duplicates } = decode(step.body)
      const reported = (step.expect!.warnings ?? []).filter(text => /duplicate field|already set in map/.test(text))
      const named = (text: string): boolean =>
        duplicates.some(duplicate => text.includes(JSON.stringify(duplicate).slice(1, -1)))
      expect(reported.filter(text => !named(text))).toEqual([])
    }
  })

  it('are refused with the recorded message', () => {
    let refused = 0
    for (const step of sent.filter(({ expect: { status = 0 } = {} }) => status === 400)) {
      const answer = JSON.stringify(step.expect!.body ?? '')
      try {
        decode(step.body)
      } catch (error) {
        if (!(error instanceof CodecError)) throw error
        // In a YAML response the message is folded. A kind without a type, as the scale of a custom object, is not decoded.
        const isComparable = answer.includes('essage') && !step.expect!.contentType?.includes('yaml')
        if (isComparable && !answer.includes('no kind is registered')) {
          expect(answer).toContain(JSON.stringify(error.message).slice(1, -1))
          refused++
        }
      }
    }
    expect(refused).toBeGreaterThan(5)
  })
})

it('prints every recorded YAML response unchanged', () => {
  const answers = steps
    .filter(step => step.expect?.contentType?.includes('yaml'))
    .map(step => step.expect!.body)
    .filter(body => typeof body === 'string')
  expect(answers.length).toBeGreaterThan(20)
  for (const answer of answers) expect(encodeYaml(decodeYaml(Buffer.from(answer)).value)).toBe(answer)
})

/** The bytes of the request, unless parts of them come from earlier responses. */
function bodyOf({ method, body }: Step): Buffer | undefined {
  if (method === undefined || body === undefined || JSON.stringify(body).includes('{{')) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  if (isBase64(body)) return Buffer.from(body.base64, 'base64')
  return Buffer.from(JSON.stringify(body))
}

const isBase64 = (body: unknown): body is { base64: string } =>
  typeof body === 'object' && body !== null && 'base64' in body && Object.keys(body).length === 1
