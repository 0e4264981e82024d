import { describe, expect, it } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { RuleCompiler } from '../../schema/rules.js'
import { memberType, mergeTypeOf, shapeOf } from '../../types/merge.js'
import { builtinTypes } from '../../types/type-table.js'
import { customKind } from '../custom-kind.js'
import { specOf, statusOf } from '../definition.js'
import { NO_NAMES, withRightStatus } from '../definition-status.js'
import { validateDefinition, validateDefinitionUpdate } from '../validation/validate-definition.js'
import { checkOldForm, convertDefinition, defaultOldDefinition, V1, V1BETA1 } from './definition-v1beta1.js'

/** An old definition as it was written; what is given goes into its spec. */
const written = (spec: ValueObject): ApiObject => ({
  apiVersion: V1BETA1,
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crontabs.example.com' },
  spec: { group: 'example.com', names: { plural: 'crontabs', kind: 'CronTab' }, ...spec },
})

/** The same as the server works with it. */
function created(spec: ValueObject): ApiObject {
  const status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] }
  return { ...defaultOldDefinition(written(spec)), status }
}

const CHECKS = { ruleCompiler: new RuleCompiler() }

function errorsOf(spec: ValueObject): string[] {
  const definition = created(spec)
  return [
    ...checkOldForm(definition),
    ...validateDefinition(convertDefinition(definition, V1), { ...CHECKS, isOldForm: true }).errors,
  ].map(printFieldError)
}

const schema = (spec: ValueObject): ValueObject => ({
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', ...spec } } },
})
const COLUMN = { name: 'Image', type: 'string' }
const SCALE = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
const NAMES = { plural: 'crontabs', singular: 'crontab', kind: 'CronTab', listKind: 'CronTabList' }
const v = (name: string, storage: boolean, more: ValueObject = {}): ValueObject => ({
  name,
  served: true,
  storage,
  ...more,
})

describe('an old definition', () => {
  it('must be structural if it has rules', () => {
    const validation = { openAPIV3Schema: { properties: { spec: { type: 'object' } } } }
    expect(errorsOf({ version: 'v1', validation })).toEqual([])
    const rules = [{ rule: 'true' }]
    const withRules = {
      openAPIV3Schema: { properties: { spec: { type: 'object', 'x-kubernetes-validations': rules } } },
    }
    expect(errorsOf({ version: 'v1', validation: withRules })).toEqual([
      'spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root',
    ])
  })

  it('has defaults for most of its fields', () => {
    expect(defaultOldDefinition(written({ version: 'v1' }))['spec']).toEqual({
      group: 'example.com',
      version: 'v1',
      versions: [v('v1', true)],
      names: NAMES,
      scope: 'Namespaced',
      conversion: { strategy: 'None' },
      preserveUnknownFields: true,
    })
    expect(defaultOldDefinition(written({ versions: [v('v2', true)] }))['spec']).toMatchObject({ version: 'v2' })
    const webhook = { strategy: 'Webhook', webhookClientConfig: { service: { namespace: 'n', name: 's' } } }
    expect(defaultOldDefinition(written({ version: 'v1', conversion: webhook }))['spec']).toMatchObject({
      conversion: {
        strategy: 'Webhook',
        webhookClientConfig: { service: { namespace: 'n', name: 's', port: 443 } },
        conversionReviewVersions: ['v1beta1'],
      },
    })
  })

  const SAME: [string, ValueObject, ValueObject][] = [
    [
      'what is said at the top holds for each version',
      {
        version: 'v1',
        validation: schema({}),
        subresources: { status: {}, scale: SCALE },
        versions: [v('v1', true), v('v2', false)],
        additionalPrinterColumns: [{ ...COLUMN, JSONPath: '.spec.image' }],
        conversion: { strategy: 'None' },
        preserveUnknownFields: false,
      },
      {
        versions: ['v1', 'v2'].map(name =>
          v(name, name === 'v1', {
            schema: schema({}),
            subresources: { status: {}, scale: SCALE },
            additionalPrinterColumns: [{ ...COLUMN, jsonPath: '.spec.image' }],
          }),
        ),
        conversion: { strategy: 'None' },
      },
    ],
    [
      'what versions say differently stays with them',
      {
        version: 'v1',
        subresources: { status: {} },
        versions: [
          v('v1', true, { schema: schema({}) }),
          v('v2', false, {
            schema: schema({ required: ['image'] }),
            additionalPrinterColumns: [{ ...COLUMN, JSONPath: '.spec.image' }],
          }),
        ],
        preserveUnknownFields: false,
      },
      {
        versions: [
          v('v1', true, { subresources: { status: {} }, schema: schema({}) }),
          v('v2', false, {
            subresources: { status: {} },
            schema: schema({ required: ['image'] }),
            additionalPrinterColumns: [{ ...COLUMN, jsonPath: '.spec.image' }],
          }),
        ],
      },
    ],
    [
      'a webhook stands in the conversion',
      {
        version: 'v1',
        versions: [v('v1', true)],
        conversion: {
          strategy: 'Webhook',
          webhookClientConfig: { url: 'https://a/b' },
          conversionReviewVersions: ['v1', 'v1beta1'],
        },
        preserveUnknownFields: true,
      },
      {
        versions: [v('v1', true)],
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: { url: 'https://a/b' }, conversionReviewVersions: ['v1', 'v1beta1'] },
        },
        preserveUnknownFields: true,
      },
    ],
  ]

  it.each(SAME)('round trip: %s', (_, older, newer) => {
    const base = { group: 'example.com', names: NAMES, scope: 'Namespaced' }
    const old = { ...written({}), spec: { ...base, ...older } }
    const now = { ...written({}), apiVersion: V1, spec: { ...base, ...newer } }
    expect(convertDefinition(old, V1)).toEqual(now)
    expect(convertDefinition(now, V1BETA1)).toEqual(old)
    expect(convertDefinition(convertDefinition(old, V1), V1BETA1)).toEqual(old)
  })

  it('may have schemas that are not structural, or none', () => {
    expect(errorsOf({ version: 'v1' })).toEqual([])
    expect(errorsOf({ version: 'v1', validation: { openAPIV3Schema: { properties: { spec: {} } } } })).toEqual([])
    const refused = { version: 'v1', preserveUnknownFields: false, validation: { openAPIV3Schema: {} } }
    expect(errorsOf(refused)).toEqual([
      'spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root',
    ])
  })

  it.each<[string, ValueObject, string]>([
    [
      'schemas in both places',
      { validation: schema({}), versions: [v('v1', true, { schema: schema({ required: ['a'] }) }), v('v2', false)] },
      'spec.validation: Forbidden: top-level and per-version schemas are mutually exclusive',
    ],
    [
      'subresources in both places',
      { subresources: { status: {} }, versions: [v('v1', true, { subresources: { scale: SCALE } }), v('v2', false)] },
      'spec.subresources: Forbidden: top-level and per-version subresources are mutually exclusive',
    ],
    [
      'another version than the first',
      { version: 'v2', versions: [v('v1', true), v('v2', false)] },
      'spec.version: Invalid value: "v2": must match the first version in spec.versions',
    ],
    [
      'defaults',
      { version: 'v1', preserveUnknownFields: false, validation: schema({ default: {} }) },
      'spec.validation.openAPIV3Schema.properties[spec].default: Forbidden: must not be set (cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1)',
    ],
  ])('must not have %s', (_, spec, error) => {
    expect(errorsOf(spec)).toEqual([error])
  })

  it('must not say the same for each version', () => {
    const [error] = errorsOf({
      versions: [v('v1', true, { schema: schema({}) }), v('v2', false, { schema: schema({}) })],
    })
    expect(error).toMatch(
      /^spec.versions: Invalid value: \[.*\]: per-version schemas may not all be set to identical values \(top-level validation should be used instead\)$/,
    )
  })
})

describe('a definition that preserves unknown fields', () => {
  const definition = withRightStatus(
    convertDefinition(
      created({ version: 'v1', validation: { openAPIV3Schema: { properties: { spec: { required: ['a'] } } } } }),
      V1,
    ),
    NO_NAMES,
    0,
  )

  it('tells what is not structural', () => {
    expect(statusOf(definition).conditions).toContainEqual({
      type: 'NonStructuralSchema',
      status: 'True',
      reason: 'Violations',
      lastTransitionTime: '1970-01-01T00:00:00Z',
      message:
        '[spec.preserveUnknownFields: Invalid value: true: must be false, spec.versions[0].schema.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields, spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the root]',
    })
    const { preserveUnknownFields: _, ...spec } = specOf(definition)
    const versions = [v('v1', true, { schema: schema({}) })]
    const tidy = { ...definition, spec: { ...spec, versions } } as unknown as ApiObject
    const types = (statusOf(withRightStatus(tidy, NO_NAMES, 0)).conditions ?? []).map(({ type }) => type)
    expect(types).toEqual(['NamesAccepted', 'Established'])
  })

  it('keeps what no schema names, and refuses what the schema refuses', () => {
    const { strategy: rules, type } = customKind(builtinTypes(), definition)!.versions[0]!
    const object = (spec: ValueObject) =>
      rules.decode({ apiVersion: 'example.com/v1', kind: 'CronTab', metadata: { name: 'a', namespace: 'n' }, spec }, [])
    const { object: kept, strict } = object({ a: 1, more: { than: [null] } })
    expect(kept['spec']).toEqual({ a: 1, more: { than: [null] } })
    expect(strict).toEqual([])
    expect(rules.validate(kept, [])).toEqual([])
    expect(rules.validate(object({}).object, []).map(printFieldError)).toEqual(['spec.a: Required value'])
    expect(type.written).toBeUndefined()
  })

  it('leaves it to the values of an apply how they are merged', () => {
    const { type } = customKind(builtinTypes(), definition)!.versions[0]!
    const value = { metadata: { finalizers: ['a'] }, spec: { a: 1, b: [{ name: 'x' }] } }
    const merged = mergeTypeOf(type)
    expect(merged.list).toBeUndefined()
    expect(merged.map).toMatchObject({ isAtomic: false, isDeduced: true })
    expect(shapeOf(memberType(merged.map!, 'spec'), value.spec)).toBe('map')
    expect(memberType(merged.map!, 'metadata').map?.isDeduced).toBe(true)
  })

  it('can be changed otherwise while its schemas stay as they are', () => {
    const changed = { ...definition, metadata: { ...definition.metadata, resourceVersion: '1', labels: { a: 'b' } } }
    expect(validateDefinitionUpdate(changed, definition, CHECKS).errors).toEqual([])
    expect(validateDefinition(definition, CHECKS).errors.map(printFieldError)).toContain(
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    )
  })
})
