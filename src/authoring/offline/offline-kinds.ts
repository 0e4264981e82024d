// The kinds that are known offline: the built-in ones, and those of the definitions that were read.

import { builtinKinds, kindsOfGroup } from '../../builtin/builtin-kinds.js'
import { renameVersion } from '../../convert/conversion.js'
import { CONVERSION_ANNOTATION } from '../../convert/declared-conversion.js'
import { conversionOf } from '../../crd/custom-conversion.js'
import { customKind } from '../../crd/custom-kind.js'
import { specOf, statusOf } from '../../crd/definition.js'
import { definitionKind, resourceDefinedBy } from '../../crd/definition-kind.js'
import { namesTakenBy, withRightStatus } from '../../crd/definition-status.js'
import type { Kind } from '../../kinds/kind.js'
import { apiVersionOf } from '../../kinds/kind-names.js'
import type { Registry } from '../../kinds/registry.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { RuleCompiler } from '../../schema/rules.js'
import { builtinTypes } from '../../types/type-table.js'
import { createWebhooks } from '../../webhook/client.js'
import type { KeptObjects } from './kept-objects.js'

const DEFINITIONS = 'apiextensions.k8s.io'

/** What is built in, so that definitions do not take its place. */
export interface BuiltinNames {
  readonly resources: ReadonlySet<string>
  readonly apiVersions: ReadonlySet<string>
}

export function installBuiltinKinds(registry: Registry, ruleCompiler: RuleCompiler): BuiltinNames {
  const types = builtinTypes()
  const definitions = kindsOfGroup(types, DEFINITIONS).map(kind => definitionKind(kind, ruleCompiler))
  for (const kind of [...builtinKinds(types), ...definitions]) registry.put(kind)
  const all = [...registry.all()]
  return {
    resources: new Set(all.map(({ group, names }) => `${group}/${names.plural}`)),
    apiVersions: new Set(all.flatMap(kind => kind.versions.map(({ name }) => apiVersionOf(kind, name)))),
  }
}

export interface Defined {
  /** The kind that a definition defines; undefined for other objects, and if its names are not accepted. */
  readonly kind?: Kind | undefined
  /** The definition with the status that the server would give it. */
  readonly definition?: ApiObject | undefined
}

export interface DefineEnv {
  readonly registry: Registry
  readonly ruleCompiler: RuleCompiler
  readonly builtin: BuiltinNames
  readonly kept: KeptObjects
  readonly now: number
}

/** Serves the kind of a definition, in the place of what a definition of the same name has defined before. */
export function defineKind(object: ApiObject, env: DefineEnv): Defined {
  if (object.kind !== 'CustomResourceDefinition' || !object.apiVersion.startsWith(`${DEFINITIONS}/`)) return {}
  const { registry, ruleCompiler, builtin, kept, now } = env
  const { group, plural } = resourceDefinedBy(object)
  if (builtin.resources.has(`${group}/${plural}`)) return {}
  const others = kept
    .of(DEFINITIONS, 'CustomResourceDefinition')
    .filter(other => specOf(other).group === group && metaOf(other).name !== metaOf(object).name)
  const definition = withRightStatus(object, namesTakenBy(others.map(other => statusOf(other).acceptedNames)), now)
  kept.add(definition)
  const kind = customKind(builtinTypes(), definition, {
    convert: offlineConversion(definition),
    ruleCompiler,
    isBuiltin: apiVersion => builtin.apiVersions.has(apiVersion),
  })
  if (kind) registry.put(kind)
  else registry.remove(group, plural)
  return { kind, definition }
}

/** A webhook cannot be called, so that objects keep their fields in other versions. */
const offlineConversion = (definition: ApiObject) =>
  specOf(definition).conversion?.strategy === 'Webhook' &&
  metaOf(definition).annotations?.[CONVERSION_ANNOTATION] === undefined
    ? renameVersion
    : conversionOf(definition, { webhooks: createWebhooks() })
