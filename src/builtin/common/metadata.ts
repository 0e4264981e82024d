// Metadata of the built-in kinds: the rules for every object, and for its finalizers.
import { childPath, type FieldError, fieldForbidden, fieldInvalid, indexPath } from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain, type NameRule } from '../../meta/object/names.js'
import {
  checkAnnotations,
  checkObjectMeta,
  checkObjectMetaUpdate,
  FOREGROUND_FINALIZER,
  metaOf,
  ORPHAN_FINALIZER,
} from '../../meta/object/object-meta.js'
import { checkLabels } from '../../meta/selectors/label-selectors.js'
import { mapAt } from '../../meta/values/access.js'
import { asGiven, fieldsGivenEmpty } from '../../meta/values/given-empty.js'
import type { ValueObject } from '../../meta/values/value.js'
import { check, type Rule } from './rules.js'

export interface MetaScope {
  readonly namespaced: boolean
  /** The rule for the name; a DNS subdomain by default. */
  readonly name?: NameRule
  /** False for the kinds that accept any finalizer that is a qualified name. */
  readonly knownFinalizers?: boolean
}

/** The rules for the metadata of one object, at their place in a list of rules. */
export const metadata =
  (scope: MetaScope): Rule =>
  (object, _, __, errors) => {
    errors.push(...checkMeta(object, scope))
  }

/** The rules for a change of metadata. Without an old object there is none. */
export const metadataUpdate: Rule = (object, old, _, errors) => {
  if (old === undefined) return
  errors.push(...checkMetaUpdate(object, old), ...checkFinalizerDomains(object))
}

/** The same for the kinds that accept any finalizer that is a qualified name. */
export const anyFinalizerUpdate: Rule = (object, old, _, errors) => {
  if (old !== undefined) errors.push(...checkMetaUpdate(object, old))
}

/** Metadata in itself. A finalizer must belong to a domain or be one of Kubernetes' own. */
export function checkMeta(
  object: ValueObject,
  { namespaced, name = checkDnsSubdomain, knownFinalizers = true }: MetaScope,
): FieldError[] {
  return [
    ...checkObjectMeta(metaOf(object), { namespaced, name }),
    ...(knownFinalizers ? checkFinalizerDomains(object) : []),
  ]
}

const TEMPLATE_METADATA = new Set(['labels', 'annotations'])

/** Metadata in the template of a claim: labels and annotations, and nothing else. */
export const templateMetadata: readonly Rule[] = [
  check((meta, path) => checkAnnotations(mapAt(meta, 'annotations'), childPath(path, 'annotations'))),
  check((meta, path) => checkLabels(mapAt(meta, 'labels'), childPath(path, 'labels'))),
  check((meta, path) =>
    [...new Set([...Object.keys(meta), ...Object.keys(fieldsGivenEmpty(meta) ?? {})])]
      .filter(name => !TEMPLATE_METADATA.has(name) && asGiven(meta, name) !== null)
      .map(name => fieldForbidden(childPath(path, name === 'uid' ? 'uID' : name), 'cannot be set')),
  ),
]

const checkFinalizerDomains = (object: ValueObject): FieldError[] =>
  (metaOf(object).finalizers ?? []).flatMap((finalizer, i) =>
    checkFinalizerDomain(finalizer, indexPath('metadata.finalizers', i)),
  )

export const checkMetaUpdate = (object: ValueObject, old: ValueObject): FieldError[] =>
  checkObjectMetaUpdate(metaOf(object), metaOf(old))

export const checkFinalizerDomain = (finalizer: string, path: string): FieldError[] =>
  finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)
    ? []
    : [fieldInvalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')]

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['kubernetes', ORPHAN_FINALIZER, FOREGROUND_FINALIZER])
