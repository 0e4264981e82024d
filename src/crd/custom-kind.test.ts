import { describe, expect, it } from 'vitest'
import { convertByFunction } from '../convert/function-conversion.js'
import type { Kind } from '../kinds/kind.js'
import { printFieldError } from '../meta/errors/field-errors.js'
import { type ApiObject } from '../meta/object/api-object.js'
import type { Value, ValueObject } from '../meta/values/value.js'
import { builtinTypes } from '../types/type-table.js'
import { customKind } from './custom-kind.js'
import { NO_NAMES, withRightStatus } from './definition-status.js'
import { widgetDefinition } from './definitions.suite.js'

const SCHEMA: ValueObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { size: { type: 'integer', default: 1 }, color: { type: 'string' }, replicas: { type: 'integer' } },
    },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  },
}

const types = builtinTypes()

const kindOf = (definition: ApiObject): Kind => customKind(types, withRightStatus(definition, NO_NAMES, 0))!

const KIND = kindOf(
  widgetDefinition(
    {},
    {
      schema: { openAPIV3Schema: SCHEMA },
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
      },
      selectableFields: [{ jsonPath: '.spec.color' }],
    },
  ),
)
const VERSION = KIND.versions[0]!
const widget = (rest: ValueObject = {}, metadata: ValueObject = { name: 'a', namespace: 'default' }): ApiObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata,
  ...rest,
})

describe('a custom kind', () => {
  it('is there as soon as its definition has its names', () => {
    expect(customKind(types, widgetDefinition())).toBeUndefined()
    expect(KIND.names).toMatchObject({ plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' })
    expect(KIND.keyPrefix).toBe('/example.com/widgets/')
  })

  it('does not serve a version of a built-in group', () => {
    const definition = withRightStatus(widgetDefinition(), NO_NAMES, 0)
    const served = (builtin: string): boolean[] =>
      customKind(types, definition, { isBuiltin: apiVersion => apiVersion === builtin })!.versions.map(v => v.served)
    expect(served('other.com/v1')).toEqual([true])
    expect(served('example.com/v1')).toEqual([false])
  })

  it('drops and names unknown fields', () => {
    const { object, strict } = VERSION.strategy.decode(widget({ spec: { size: 2, more: 1 } }), [])
    expect(object['spec']).toEqual({ size: 2 })
    expect(strict).toEqual(['unknown field "spec.more"'])
  })

  it('fills in defaults', () => {
    expect(VERSION.strategy.applyDefaults(widget({ spec: {} }))['spec']).toEqual({ size: 1 })
  })

  it('holds objects to the rules of its schema, and warns of what was wrong before', () => {
    const small = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 10', message: 'too much' }] }
    const part = { type: 'object', properties: { size: small, color: { type: 'string' } } }
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: part, status: part } } }
    const [ruled] = kindOf(widgetDefinition({}, { schema, subresources: { status: {} } })).versions
    const { strategy: rules, subresources } = ruled!
    const meta = { name: 'a', namespace: 'default', resourceVersion: '1' }
    const before = widget({ spec: { size: 11 }, status: { size: 12 } }, meta)
    expect(rules.validate(before, []).map(printFieldError)).toEqual([
      'spec.size: Invalid value: 11: too much',
      'status.size: Invalid value: 12: too much',
    ])
    const warnings: string[] = []
    const after = widget({ spec: { size: 11, color: 'red' }, status: { size: 13 } }, meta)
    expect(subresources.status!.validateUpdate(after, before, warnings, 0).map(printFieldError)).toEqual([
      'status.size: Invalid value: 13: too much',
    ])
    expect(warnings).toEqual(['spec.size: Invalid value: 11: too much'])
    const wrong = widget({ spec: { size: 'x' } }, meta)
    expect(rules.validateUpdate(wrong, before, [], 0).map(printFieldError)).toEqual([
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ])
  })

  it('takes no status from a create, and counts generations by what is not metadata', () => {
    const created = VERSION.strategy.prepareForCreate(widget({ spec: {}, status: { phase: 'x' } }), 0)
    expect(created).toEqual({ ...widget({ spec: {} }), metadata: { ...widget().metadata, generation: 1 } })
    const changed = VERSION.strategy.prepareForUpdate(widget({ spec: { size: 3 }, status: {} }), created, 0)
    expect(changed.metadata['generation']).toBe(2)
    expect(changed).not.toHaveProperty('status')
    expect(VERSION.strategy.prepareForUpdate(widget({ spec: {} }), created, 0).metadata['generation']).toBe(1)
  })

  it('takes nothing but the status from a write to the status', () => {
    const old = widget({ spec: { size: 1 } })
    const sent = widget({ spec: { size: 9 }, status: { phase: 'x' } })
    expect(VERSION.subresources.status!.prepareForUpdate(sent, old, 0)).toEqual({ ...old, status: { phase: 'x' } })
  })

  it('refuses what its schema refuses, and other kinds', () => {
    expect(VERSION.strategy.validate(widget({ spec: { size: 'x' } }), []).map(printFieldError)).toEqual([
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    ])
    expect(VERSION.strategy.validate({ ...widget(), kind: 'Gadget' }, []).map(printFieldError)).toEqual([
      'kind: Invalid value: "Gadget": must be Widget',
    ])
  })

  it('reads what was stored under an earlier schema as it is now', () => {
    const { object, changed } = VERSION.upgradeStored!(widget({ spec: { gone: 1 } }))
    expect([object['spec'], changed]).toEqual([{ size: 1 }, true])
    expect(VERSION.upgradeStored!(structuredClone(object)).changed).toBe(false)
  })

  it('has a scale', () => {
    const { scale } = VERSION.subresources
    const object = widget({ spec: { replicas: 2 } })
    expect(scale!.read(object)['spec']).toEqual({ replicas: 2 })
    const scaled = scale!.write(object, { ...scale!.read(object), spec: { replicas: 5 } })
    expect(scaled['spec']).toEqual({ replicas: 5 })
    expect(() => scale!.read(widget())).toThrow('the spec replicas field ".spec.replicas" does not exist')
  })

  it('can be selected by the fields that it names', () => {
    expect(VERSION.fields(widget({ spec: { color: 'red' } }))).toEqual({ 'spec.color': 'red' })
    expect(VERSION.supportField('spec.color', 'red').ok).toBe(true)
    expect(VERSION.supportField('spec.size', '1').ok).toBe(false)
  })

  it('tells what to use instead of a deprecated version', () => {
    const version = { served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } }
    const kind = kindOf(
      widgetDefinition({
        versions: [
          { ...version, name: 'v1beta1', deprecated: true },
          { ...version, name: 'v1', storage: true },
        ],
      }),
    )
    expect(kind.versions.map(({ name, deprecationWarning }) => [name, deprecationWarning])).toEqual([
      ['v1', undefined],
      ['v1beta1', 'example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget'],
    ])
  })

  it('loses what the version that it is converted to does not have', () => {
    const version = (name: string, field: string) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', properties: { [field]: { type: 'string' } } } },
    })
    const kind = kindOf(widgetDefinition({ versions: [version('v1', 'one'), version('v2', 'two')] }))
    const object = widget({ one: 'x', two: 'y' })
    expect(kind.convert(object, 'example.com/v2')).toMatchObject({ apiVersion: 'example.com/v2', two: 'y' })
    expect(kind.convert(object, 'example.com/v2')).not.toHaveProperty('one')
    expect(object).toHaveProperty('one')
  })

  it('is converted in part, where a merge has taken its metadata away', async () => {
    const version = (name: string) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', properties: { one: { type: 'string' } } } },
    })
    const definition = withRightStatus(widgetDefinition({ versions: [version('v1'), version('v2')] }), NO_NAMES, 0)
    const { metadata: _, ...part } = widget({ one: 'x' })
    const seen: Value[] = []
    const byFunction = convertByFunction((object, to) => {
      seen.push(object.metadata)
      return { ...object, apiVersion: to }
    })
    for (const convert of [undefined, byFunction]) {
      const kind = customKind(types, definition, convert ? { convert } : {})!
      expect(await kind.convert(part as ApiObject, 'example.com/v2')).toEqual({ ...part, apiVersion: 'example.com/v2' })
    }
    expect(seen).toEqual([{}])
  })
})
