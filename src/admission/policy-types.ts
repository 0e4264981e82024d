// Checks the types of the expressions of a ValidatingAdmissionPolicy against the kinds that its rules name, for its status.
import { startTurns } from '../base/turns.js'
import { createTypeChecker, type TypeChecker } from '../builtin/policy-expressions.js'
import type { Registry } from '../kinds/registry.js'
import { compareTexts } from '../meta/go/go-text.js'
import { type GroupVersionKind, groupVersionKind, printGroupVersion } from '../meta/group-version.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { type Declarations, declareTypes } from '../types/cel-types.js'
import type { Type } from '../types/type.js'
import type { TypeTable } from '../types/type-table.js'

export interface ExpressionWarning {
  /** `spec.validations[0].expression`. */
  readonly fieldRef: string
  readonly warning: string
}

export interface TypeCheckEnv {
  readonly registry: Registry
  /** The types of built-in kinds, also of those that are not stored. */
  readonly types: TypeTable
  readonly now: () => number
}

export async function checkPolicyTypes(policy: ApiObject, env: TypeCheckEnv): Promise<readonly ExpressionWarning[]> {
  const spec = objectAt(policy, 'spec')
  const checkers = checkersOf(spec, env)
  const warnings: ExpressionWarning[] = []
  const turns = startTurns()
  const check = async (fieldRef: string, expression: string): Promise<void> => {
    const found = checkers.flatMap(({ kind, checker }) => {
      const message = checker.check(expression)
      return message === undefined ? [] : `${printKind(kind)}: ${message}\n`
    })
    if (found.length > 0) warnings.push({ fieldRef, warning: found.join('\n') })
    if (turns.isDue()) await turns.give()
  }
  for (const [i, validation] of objectsAt(spec, 'validations').entries()) {
    await check(`spec.validations[${i}].expression`, stringAt(validation, 'expression'))
    const message = stringAt(validation, 'messageExpression')
    if (message !== '') await check(`spec.validations[${i}].messageExpression`, message)
  }
  return warnings
}

const printKind = (kind: GroupVersionKind): string => `${kind.group}/${kind.version}, Kind=${kind.kind}`

interface KindChecker {
  readonly kind: GroupVersionKind
  readonly checker: TypeChecker
}

function checkersOf(spec: ValueObject, env: TypeCheckEnv): KindChecker[] {
  const paramKind = objectOrNone(spec, 'paramKind')
  const params = paramKind
    ? declaredKind(groupVersionKind(stringAt(paramKind, 'apiVersion'), stringAt(paramKind, 'kind')), env)
    : 'none'
  return kindsToCheck(spec, env).flatMap(kind => {
    const object = declaredKind(kind, env)
    if (!object) return []
    const checker = createTypeChecker({ object, params })
    for (const variable of objectsAt(spec, 'variables')) {
      checker.variable(stringAt(variable, 'name'), stringAt(variable, 'expression'))
    }
    return [{ kind, checker }]
  })
}

/** The kind with its fields; undefined if there is no such kind. As in kube-apiserver, its CEL name ends in a number. */
function declaredKind(kind: GroupVersionKind, env: TypeCheckEnv): Declarations | undefined {
  const type = typeOf(kind, env)
  return type && declareTypes(type, { isPublished: true, rootName: `${kind.kind}${(env.now() % 1000) * 1_000_000}` })
}

function typeOf({ group, version, kind }: GroupVersionKind, { registry, types }: TypeCheckEnv): Type | undefined {
  const stored = registry.findKind(group, kind)
  if (stored) return stored.versions.find(({ name, served }) => served && name === version)?.type
  return types.ofKind(printGroupVersion({ group, version }), kind)
}

// ---- the kinds that rules name

/** No more than this many kinds are collected from one rule. */
const MAX_KINDS = 10

/** Rules with wildcards name no certain kinds. */
function kindsToCheck(spec: ValueObject, env: TypeCheckEnv): GroupVersionKind[] {
  const kinds = new Map<string, GroupVersionKind>()
  const all = servedResources(env)
  const sorted = (): GroupVersionKind[] => [...kinds.values()].toSorted(compareKinds)
  for (const rule of objectsAt(objectAt(spec, 'matchConstraints'), 'resourceRules')) {
    let count = 0
    for (const kind of namedKinds(rule, all)) {
      kinds.set(printKind(kind), kind)
      if (++count === MAX_KINDS) return sorted()
    }
  }
  return sorted()
}

interface NamedKind {
  readonly kind: ServedResource
  /** How the rule names its group: without a group, those of all groups are meant. */
  readonly group: string
  readonly resource: string
}

/**
 * The kinds that a rule names, in the order of the groups, versions and resources in it. A rule may have very many of each,
 * so that the resources of the server are looked up in the rule, and not all combinations on the server.
 */
function namedKinds(rule: ValueObject, all: readonly ServedResource[]): ServedResource[] {
  const [groups, versions] = [new Set(certain(rule, 'apiGroups')), new Set(certain(rule, 'apiVersions'))]
  const resources = new Set(stringsAt(rule, 'resources').map(resource => resource.toLowerCase()))
  const named: NamedKind[] = all.flatMap(kind => {
    if (!versions.has(kind.version)) return []
    const names = [...new Set([kind.plural, kind.singular])].filter(name => resources.has(name))
    const inGroups = [...new Set(['', kind.group])].filter(group => groups.has(group))
    return inGroups.flatMap(group => names.map(resource => ({ kind, group, resource })))
  })
  const inOrder = named.toSorted(
    (a, b) =>
      compareTexts(a.group, b.group) ||
      compareTexts(a.kind.version, b.kind.version) ||
      compareTexts(a.resource, b.resource),
  )
  return inOrder.map(({ kind }) => kind)
}

const certain = (rule: ValueObject, field: string): readonly string[] => {
  const names = stringsAt(rule, field)
  return names.some(name => name.includes('*')) ? [] : names
}

interface ServedResource extends GroupVersionKind {
  readonly plural: string
  readonly singular: string
}

function servedResources({ registry, types }: TypeCheckEnv): ServedResource[] {
  const found: ServedResource[] = []
  for (const { group, names, versions } of registry.all()) {
    for (const { name: version, served } of versions) {
      if (served) found.push({ group, version, kind: names.kind, plural: names.plural, singular: names.singular })
    }
  }
  for (const apiVersion of types.groupVersions()) {
    for (const { name, singularName = '', kind } of types.resources(apiVersion)) {
      const { group, version } = groupVersionKind(apiVersion, kind)
      // Those that are not stored, such as reviews.
      if (name.includes('/') || registry.findKind(group, kind)) continue
      found.push({ group, version, kind, plural: name, singular: singularName || kind.toLowerCase() })
    }
  }
  return found.toSorted(compareKinds)
}

const compareKinds = (a: GroupVersionKind, b: GroupVersionKind): number =>
  compareTexts(a.group, b.group) || compareTexts(a.version, b.version) || compareTexts(a.kind, b.kind)
