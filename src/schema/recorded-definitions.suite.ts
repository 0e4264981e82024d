// Compares, for every schema that was sent in a CustomResourceDefinition, what its check finds with what the reference
// server answered.
import { readFileSync } from 'node:fs'
import { decodeJson } from '../codec/json/decode.js'
import { encodeJson } from '../codec/json/encode.js'
import { printField, printFieldErrorBody } from '../meta/errors/field-errors.js'
import { getOwn, isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { checkSchema } from './check/check-schema.js'
import type { Comparison } from './recorded-objects.suite.js'

export function replayDefinitions(file: string): Comparison[] {
  const path = new URL(`../../test/conformance/recordings/${file}.json`, import.meta.url)
  const { scenarios } = decodeJson(readFileSync(path)).value as { scenarios: { name: string; steps: ValueObject[] }[] }
  return scenarios.flatMap(({ name, steps }) =>
    steps.flatMap((step, i) => {
      const comparison = compare(step, `${name} ${i}`)
      return comparison === undefined ? [] : [comparison]
    }),
  )
}

function compare(step: ValueObject, label: string): Comparison | undefined {
  const body = getOwn(step, 'body')
  const answer = asObject(step['expect'])
  const isCreate = step['method'] === 'POST' && text(step['path']).includes('/v1/customresourcedefinitions')
  if (!isCreate || !isObject(body)) return undefined
  const status = answer['status']
  if (status !== 201 && status !== 422) return undefined
  const versions = getOwn(asObject(body['spec']), 'versions')
  if (!Array.isArray(versions)) return undefined
  const schemas = versions.map(asObject).map(version => ({
    written: getOwn(asObject(version['schema']), 'openAPIV3Schema') ?? null,
    hasStatus: isObject(getOwn(asObject(version['subresources']), 'status')),
  }))
  const texts = new Set(schemas.map(({ written }) => encodeJson(written)))
  const found = (texts.size === 1 ? schemas.slice(0, 1) : schemas).map(({ written, hasStatus }, i) => {
    const at = texts.size === 1 ? 'spec.validation.openAPIV3Schema' : `spec.versions[${i}].schema.openAPIV3Schema`
    return written === null ? { errors: [], warnings: [] } : checkSchema(written, at, { hasStatus })
  })
  const actual = found
    .flatMap(({ errors }) => errors)
    .map(error => ({
      reason: error.type,
      field: printField(error),
      message: printFieldErrorBody(error),
    }))
  const recordedWarnings = getOwn(answer, 'warnings')
  return {
    step: label,
    expected: {
      faults: errorsIn(asObject(answer['body']), actual),
      warnings: Array.isArray(recordedWarnings) ? recordedWarnings.map(text).filter(isFormatWarning) : [],
    },
    actual: {
      faults: printErrors(actual),
      // A definition that is refused is refused without advice.
      warnings: [...new Set(status === 201 ? found.flatMap(({ warnings }) => warnings) : [])].map(
        warning => `299 - "${warning.replaceAll('"', '\\"')}"`,
      ),
    },
  }
}

interface Error {
  readonly reason: string
  readonly field: string
  readonly message: string
}

const printErrors = (errors: readonly Error[]): string[] =>
  errors
    .map(({ reason, field, message }) => `${reason} | ${field} | ${message}`)
    .filter(isOurs)
    .toSorted()

/** Where only parts of an answer were recorded, by their pointers, the rest of its only cause is free. */
function errorsIn(body: ValueObject, actual: readonly Error[]): string[] {
  if (Object.hasOwn(body, '/code')) {
    const part = (name: keyof Error): string => text(body[`/details/causes/0/${name}`] ?? actual[0]?.[name])
    const isOne = Object.hasOwn(body, '/details/causes/0/field')
    if (actual.length === 0 && !isOne) return []
    return printErrors([
      { reason: part('reason'), field: part('field'), message: part('message') },
      ...(isOne ? [] : actual.slice(1)),
    ])
  }
  const causes = getOwn(asObject(getOwn(body, 'details')), 'causes')
  return printErrors(
    (Array.isArray(causes) ? causes : []).map(asObject).map(({ reason, field, message }) => ({
      reason: text(reason),
      field: text(field),
      message: text(message),
    })),
  )
}

const isFormatWarning = (warning: string): boolean => warning.includes('unrecognized format')

const isOurs = (cause: string): boolean => cause.includes('openAPIV3Schema') && !cause.includes('selectableFields')

const asObject = (value: Value | undefined): ValueObject => (isObject(value) ? value : {})
const text = (value: Value | undefined): string => (typeof value === 'string' ? value : '')
