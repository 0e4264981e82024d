import { describe, expect, it } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { RuleCompiler } from '../../schema/rules.js'
import { NO_NAMES, withRightStatus } from '../definition-status.js'
import { widgetDefinition } from '../definitions.suite.js'
import { validateDefinition, validateDefinitionUpdate } from './validate-definition.js'

const CHECKS = { ruleCompiler: new RuleCompiler() }
const SCHEMA = { openAPIV3Schema: { type: 'object' } }
const version = (more: ValueObject): ValueObject => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: SCHEMA,
  ...more,
})
const errors = (spec: ValueObject): string[] =>
  validateDefinition(widgetDefinition(spec), CHECKS).errors.map(printFieldError)

describe('a definition', () => {
  it('of the simplest kind is right', () => expect(errors({})).toEqual([]))

  it.each<[string, ValueObject, string]>([
    ['without a scope', { scope: '' }, 'spec.scope: Required value'],
    [
      'whose name is not that of its resource',
      { names: { plural: 'others', kind: 'Widget' } },
      'metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
    ],
    [
      'whose kind and list kind are the same',
      { names: { plural: 'widgets', kind: 'Widget', listKind: 'Widget' } },
      'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same',
    ],
    [
      'without a storage version',
      { versions: [version({ storage: false })] },
      'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
    ],
    [
      'with a column that has no path',
      { versions: [version({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '' }] })] },
      'spec.additionalPrinterColumns[0].JSONPath: Required value',
    ],
    [
      'with a scale that is not under its spec',
      {
        versions: [
          version({ subresources: { scale: { specReplicasPath: '.status.a', statusReplicasPath: '.status.a' } } }),
        ],
      },
      'spec.subresources.scale.specReplicasPath: Invalid value: ".status.a": should be a json path under .spec',
    ],
    [
      'with a field to select by that is not there',
      { versions: [version({ selectableFields: [{ jsonPath: '.a' }] })] },
      'spec.selectableFields[0].jsonPath: Invalid value: ".a": is an invalid path: does not refer to a valid field',
    ],
    [
      'with a webhook that cannot be reached',
      { conversion: { strategy: 'Webhook', webhook: { clientConfig: {}, conversionReviewVersions: ['v1'] } } },
      'spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required',
    ],
    [
      'with a warning for a version that is not deprecated',
      { versions: [version({ deprecationWarning: 'x' })] },
      'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
    ],
    [
      'that preserves unknown fields in the old way',
      { preserveUnknownFields: true },
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
  ])('%s', (_, spec, error) => expect(errors(spec)).toContain(error))

  it('is reported for the version if versions differ, and once if they do not', () => {
    const bad = { openAPIV3Schema: { type: 'object', properties: { a: {} } } }
    const second = version({ name: 'v2', storage: false, schema: bad })
    expect(errors({ versions: [version({ schema: bad }), second] })[0]).toMatch(/^spec\.validation\.openAPIV3Schema/)
    expect(errors({ versions: [version({}), second] })[0]).toMatch(/^spec\.versions\[1\]\.schema\.openAPIV3Schema/)
  })

  it('may keep a rule that costs too much in a schema that stays the same', () => {
    const list = { type: 'array', items: { type: 'integer' }, maxItems: 3_000_000 }
    const costly = { ...list, 'x-kubernetes-validations': [{ rule: 'self.all(x, x > 0)' }] }
    const withList = (more: ValueObject): ApiObject =>
      widgetDefinition({}, { schema: { openAPIV3Schema: { type: 'object', properties: { costly, ...more } } } })
    const old = withList({})
    old.metadata['resourceVersion'] = '1'
    const update = (changed: ApiObject) =>
      validateDefinitionUpdate({ ...changed, metadata: old.metadata }, old, CHECKS).errors.map(({ type }) => type)
    expect(update(withList({}))).toEqual([])
    expect(update(withList({ more: { type: 'string' } }))).toEqual(['FieldValueForbidden'])
  })

  it('has the warnings of all its schemas, each once', () => {
    const withFormat = (format: string): ValueObject => ({
      openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', format } } },
    })
    const versions = ['b', 'a', 'b'].map((format, i) =>
      version({ name: `v${i}`, storage: i === 0, schema: withFormat(format) }),
    )
    expect(validateDefinition(widgetDefinition({ versions }), CHECKS).warnings).toEqual([
      'unrecognized format "b"',
      'unrecognized format "a"',
    ])
    const old = widgetDefinition({ versions: [version({ schema: withFormat('b') })] })
    old.metadata['resourceVersion'] = '1'
    const changed = { ...widgetDefinition({ versions }), metadata: old.metadata }
    expect(validateDefinitionUpdate(changed, old, CHECKS).warnings).toEqual(['unrecognized format "a"'])
  })

  it('names an unknown type of list beside another error of its type', () => {
    const openAPIV3Schema = { type: 'object', properties: { a: { type: 'string', 'x-kubernetes-list-type': 'Set' } } }
    const definition = widgetDefinition({ versions: [version({ schema: { openAPIV3Schema } })] })
    expect(validateDefinition(definition, CHECKS).errors.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['FieldValueInvalid', 'FieldValueNotSupported']),
    )
  })

  it('keeps kind and scope once it is established', () => {
    const old = withRightStatus(widgetDefinition(), NO_NAMES, 0)
    old.metadata['resourceVersion'] = '1'
    const changed = { ...widgetDefinition({ scope: 'Cluster' }), metadata: old.metadata }
    expect(validateDefinitionUpdate(changed, old, CHECKS).errors.map(printFieldError)).toEqual([
      'spec.scope: Invalid value: "Cluster": field is immutable',
    ])
  })

  it('keeps versions that may still be stored', () => {
    const old = widgetDefinition()
    old.metadata['resourceVersion'] = '1'
    const changed = {
      ...widgetDefinition({ versions: [version({ name: 'v2' })] }),
      metadata: old.metadata,
      status: { acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1', 'v2'] },
    }
    expect(validateDefinitionUpdate(changed, old, CHECKS).errors.map(({ field }) => field)).toEqual([
      'status.storedVersions[0]',
    ])
  })
})
