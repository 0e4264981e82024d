// The kinds that are built in, with the versions that --runtime-config switches on and off.
import { builtinKinds, builtinKindsWith, kindsOfGroup, withSettings } from '../../builtin/builtin-kinds.js'
import { definitionKind } from '../../crd/definition-kind.js'
import type { Kind } from '../../kinds/kind.js'
import { apiVersionOf } from '../../kinds/kind-names.js'
import { createRegistry, type Registry } from '../../kinds/registry.js'
import type { RuleCompiler } from '../../schema/rules.js'
import { builtinTypes } from '../../types/type-table.js'
import type { ApiOptions } from '../options/api.js'
import { emulateKinds } from './emulated-versions.js'
import { checkRuntimeConfig, withCoreNames, withRuntimeConfig } from './runtime-config.js'

export const ADMISSION_GROUP = 'admissionregistration.k8s.io'
export const DEFINITIONS = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' }

/** Throws a UsageError when the configuration names an unknown version; `warnings` name those that are not served here. */
export function createBuiltinRegistry(
  { runtimeConfig, featureGates, versions, allowPrivileged }: ApiOptions,
  ruleCompiler: RuleCompiler,
): { registry: Registry; warnings: string[] } {
  const registry = createRegistry()
  const config = withCoreNames(runtimeConfig)
  const definitions = kindsOfGroup(builtinTypes(), DEFINITIONS.group).map(kind =>
    withSettings(definitionKind(kind, ruleCompiler), { featureGates }),
  )
  const isUnchanged = allowPrivileged && Object.keys(featureGates).length === 0
  const builtin = isUnchanged
    ? builtinKinds(builtinTypes())
    : builtinKindsWith(builtinTypes(), { featureGates, allowPrivileged })
  const kinds = [...builtin, ...definitions]
  const known = new Set(kinds.flatMap(kind => kind.versions.map(({ name }) => apiVersionOf(kind, name))))
  const absent = checkRuntimeConfig(config, known)
  const configured = kinds.map(kind => withRuntimeConfig(kind, config, featureGates))
  for (const kind of emulateKinds(configured, config, versions)) registry.put(kind)
  return { registry, warnings: absent.map(name => `--runtime-config has no effect for ${name}: it is not served here`) }
}

/** A kind that is always there. */
export function requireKind(registry: Registry, group: string, name: string): Kind {
  const kind = registry.findKind(group, name)
  if (!kind) throw new Error(`the kind ${name} is missing from the registry`)
  return kind
}
