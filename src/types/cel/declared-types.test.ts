import { describe, expect, it } from 'vitest'
import { compile, createEnvironment, extendEnvironment, printType, RULE_ENVIRONMENT } from '../../cel/index.js'
import { builtinTypes } from '../type-table.js'
import { declareTypes } from './declared-types.js'

const types = builtinTypes()
const declare = (apiVersion: string, kind: string) =>
  declareTypes(types.ofKind(apiVersion, kind)!, { isResource: true, rootName: 'Object' })!

function check(expression: string): string {
  const { root, objectTypes } = declare('apps/v1', 'Deployment')
  const environment = extendEnvironment(createEnvironment(RULE_ENVIRONMENT), {
    variables: { object: root.celType },
    objectTypes,
  })
  const compiled = compile(expression, environment)
  return compiled.ok ? printType(compiled.program.type) : compiled.message
}

describe('a built-in type', () => {
  it('types expressions over its objects', () => {
    expect(check('object.spec.replicas > 3')).toBe('bool')
    expect(check('object.metadata.labels')).toBe('map(string, string)')
    expect(check('object.spec.template.spec.containers.map(c, c.image)')).toBe('list(string)')
    expect(check('object.metadata.creationTimestamp')).toBe('timestamp')
    expect(check('object.spec.strategy.rollingUpdate.maxSurge')).toBe('dyn')
  })

  it('refuses fields that it does not have', () => {
    expect(check('object.spec.replica > 3')).toContain("undefined field 'replica'")
    expect(check("object.spec.replicas == 'x'")).toContain('found no matching overload')
  })

  it('hides values that have no single type, such as quantities', () => {
    expect(check('object.spec.template.spec.containers[0].resources.limits')).toContain("undefined field 'limits'")
  })

  it('names the types of its parts by their paths', () => {
    expect(declare('v1', 'Pod').root.fields.get('spec')!.declared.celType.name).toBe('Object.spec')
  })

  it('that contains itself is an empty object there', () => {
    const { root } = declare('apiextensions.k8s.io/v1', 'CustomResourceDefinition')
    const versions = root.fields.get('spec')!.declared.fields.get('versions')!.declared
    const schema = versions.element!.fields.get('schema')!.declared.fields.get('openAPIV3Schema')!.declared
    expect(schema.fields.get('__not__')?.declared ?? schema.fields.get('not')!.declared).toMatchObject({
      kind: 'object',
      fields: new Map(),
    })
  })
})
