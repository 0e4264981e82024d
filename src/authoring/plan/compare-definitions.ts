// What a change of a definition means beside its schemas: versions, storage, conversion, subresources, names.

import { startTurns } from '../../base/turns.js'
import { CONVERSION_ANNOTATION } from '../../convert/declared-conversion.js'
import { type DefinitionSpec, specOf, statusOf, type VersionSpec, versionsOf } from '../../crd/definition.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { ruleCosts } from '../../schema/explain-costs.js'
import { nodesBelow, schemasOf, type VersionSchema } from '../definitions.js'
import { type AddChange, type Change, WHY } from './change.js'
import { compareSchemas } from './compare-schemas.js'

export async function compareDefinitions(old: ApiObject, next: ApiObject): Promise<readonly Change[]> {
  const changes: Change[] = []
  const add: AddChange = (impact, at, message, why) => void changes.push({ impact, at, message, why })
  compareVersions(old, next, add)
  compareStorage(old, next, add)
  const schemas = new Map(schemasOf(old).map(each => [each.version.name, each]))
  for (const schema of schemasOf(next)) {
    const before = schemas.get(schema.version.name)
    if (before === undefined) continue
    compareSchemas(before.root, schema.root, add)
    await compareCosts(before, schema, add)
  }
  if (metaOf(next).annotations?.[CONVERSION_ANNOTATION] === undefined)
    checkConversion(specOf(next), schemasOf(next), add)
  return changes
}

const placeOf = (definition: ApiObject, name: string): string =>
  `spec.versions[${versionsOf(definition).findIndex(version => version.name === name)}]`

function compareVersions(old: ApiObject, next: ApiObject, add: AddChange): void {
  const after = new Map(versionsOf(next).map(version => [version.name, version]))
  const stored = statusOf(old).storedVersions ?? []
  for (const version of versionsOf(old)) {
    const { name } = version
    const same = after.get(name)
    if (same === undefined) {
      if (version.served) {
        add('readers', 'spec.versions', `version ${name} is gone`, 'clients that use it get 404')
        add('writers', 'spec.versions', `version ${name} is gone`, 'clients that use it get 404')
      }
      if (stored.includes(name)) {
        const why = 'objects are still stored in it: migrate them, then take it out of status.storedVersions'
        add('stored', 'spec.versions', `version ${name} is gone`, why)
      }
    } else compareVersion(version, same, placeOf(next, name), add)
  }
  const before = new Set(versionsOf(old).map(({ name }) => name))
  for (const { name, served } of versionsOf(next)) {
    if (before.has(name)) continue
    add(
      'compatible',
      placeOf(next, name),
      `version ${name} is new${served ? '' : ', and not served'}`,
      'other versions stay',
    )
  }
}

function compareVersion(old: VersionSpec, next: VersionSpec, at: string, add: AddChange): void {
  const { name } = next
  if (old.served && !next.served) {
    add('readers', `${at}.served`, `version ${name} is no longer served`, 'clients that use it get 404')
    add('writers', `${at}.served`, `version ${name} is no longer served`, 'clients that use it get 404')
  }
  if (!old.deprecated && next.deprecated)
    add('compatible', at, `version ${name} is deprecated`, 'clients get a warning')
  const [had, has] = [old.subresources?.status !== undefined, next.subresources?.status !== undefined]
  if (!had && has) {
    const why = 'a write of the object no longer changes its status; controllers must write /status'
    add('writers', `${at}.subresources`, `version ${name} has a status subresource`, why)
  }
  if (had && !has) add('writers', at, `version ${name} has no status subresource any more`, 'writes to /status get 404')
  if (old.subresources?.scale && !next.subresources?.scale) {
    add('writers', at, `version ${name} has no scale subresource any more`, 'kubectl scale and autoscalers get 404')
  }
}

function compareStorage(old: ApiObject, next: ApiObject, add: AddChange): void {
  const before = versionsOf(old).find(({ storage }) => storage)?.name
  const after = versionsOf(next).find(({ storage }) => storage)?.name
  if (before === after || after === undefined) return
  const why = `objects stay stored in ${before} until they are written again; migrate them before ${before} can go`
  add('stored', `${placeOf(next, after)}.storage`, `the storage version was ${before} and is ${after}`, why)
}

async function compareCosts(old: VersionSchema, next: VersionSchema, add: AddChange): Promise<void> {
  const costs = new Map<string, number>()
  // A server that plans serves others meanwhile.
  const turns = startTurns()
  for (const { field, total, compiled } of ruleCosts(old.version.schema!.openAPIV3Schema!)) {
    costs.set(`${field} ${compiled.rule.rule}`, total)
    await turns.next()
  }
  const places = new Map<string, string>()
  for (const { at, schema } of nodesBelow(next.root)) {
    for (const { rule } of schema.extensions.rules) if (!places.has(rule)) places.set(rule, at)
  }
  for (const { field, total, compiled } of ruleCosts(next.version.schema!.openAPIV3Schema!)) {
    await turns.next()
    const { rule } = compiled.rule
    const before = costs.get(`${field} ${rule}`)
    if (before === undefined || total <= before) continue
    const message = `the rule ${rule.trim()} of ${field || 'the object'} may cost ${total}; it was ${before}`
    add('compatible', places.get(rule) ?? next.root.at, message, 'binnacle cel explain shows why')
  }
}

/** Without a conversion, fields that the storage version does not have are lost. */
function checkConversion({ conversion }: DefinitionSpec, schemas: readonly VersionSchema[], add: AddChange): void {
  if ((conversion?.strategy ?? 'None') !== 'None') return
  const stored = schemas.find(({ version }) => version.storage)
  if (stored === undefined) return
  const has = new Set([...nodesBelow(stored.root)].map(({ field }) => field))
  for (const { version, root } of schemas) {
    if (version.storage || !version.served) continue
    const lost = [...nodesBelow(root)].find(
      ({ field, parent }) => !has.has(field) && (parent === undefined || has.has(parent.field)),
    )
    if (lost === undefined) continue
    const message = `version ${version.name} has ${lost.field}, and the storage version ${stored.version.name} has not`
    add('stored', lost.at, message, `${WHY.pruned}: a conversion is needed`)
  }
}
