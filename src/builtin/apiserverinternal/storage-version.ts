// StorageVersion: the versions of a resource that each API server encodes, decodes and serves. API servers write the status.
import {
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDns1035Label, checkDnsSubdomain, checkQualifiedName } from '../../meta/object/names.js'
import { has, objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import type { ValueObject } from '../../meta/values/value.js'
import { statusApart } from '../common/build-kind.js'
import { defineKind } from '../common/define-kind.js'
import { checkText } from '../common/field-checks.js'
import { anyFinalizerUpdate, metadata } from '../common/metadata.js'
import { check, field, type Rule } from '../common/rules.js'
import { statusAlone } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

const prefixed = (prefix: string, messages: readonly string[]): string[] => messages.map(text => `${prefix} ${text}`)

/** `apps.deployments`. */
function checkName(name: string): string[] {
  const dot = name.lastIndexOf('.')
  if (dot < 0) return ['name must be in the form of <group>.<resource>']
  return [
    ...prefixed('the group segment', checkDnsSubdomain(name.slice(0, dot))),
    ...prefixed('the resource segment', checkDns1035Label(name.slice(dot + 1))),
  ]
}

const NOT_AN_API_VERSION =
  "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic " +
  "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
  "'[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"

/** `v1` or `apps/v1`. All that is wrong is one error. */
function checkApiVersion(apiVersion: string, path: string): FieldError[] {
  const parts = apiVersion.split('/')
  const orEmpty = (text: string, rule: (text: string) => string[]): string[] =>
    text === '' ? ['must be non-empty'] : rule(text)
  const messages =
    parts.length > 2
      ? [NOT_AN_API_VERSION]
      : [
          ...(parts.length === 2 ? prefixed('group part:', orEmpty(parts[0]!, checkDnsSubdomain)) : []),
          ...prefixed('version part:', orEmpty(parts.at(-1)!, checkDns1035Label)),
        ]
  return messages.length === 0 ? [] : [fieldInvalid(path, apiVersion, messages.join(','))]
}

function checkServer(server: ValueObject, path: string): FieldError[] {
  const encoding = stringAt(server, 'encodingVersion')
  const [decodable, served] = [stringsAt(server, 'decodableVersions'), stringsAt(server, 'servedVersions')]
  const at = `${path}.decodableVersions`
  const isDecodable = decodable.includes(encoding)
  const why = `decodableVersions must include encodingVersion ${encoding}`
  return [
    ...checkText(stringAt(server, 'apiServerID'), checkDnsSubdomain, `${path}.apiServerID`),
    ...checkApiVersion(encoding, `${path}.encodingVersion`),
    ...decodable.flatMap((version, i) => checkApiVersion(version, indexPath(at, i))),
    ...(isDecodable ? [] : [fieldInvalid(at, asGiven(server, 'decodableVersions'), why)]),
    ...served.flatMap((version, i) => checkServed(version, decodable, indexPath(`${path}.servedVersions`, i))),
  ]
}

function checkServed(version: string, decodable: readonly string[], path: string): FieldError[] {
  const errors = checkApiVersion(version, path)
  if (decodable.includes(version)) return errors
  const list = `[${decodable.join(' ')}]`
  const why = `individual served version : ${version} must be included in decodableVersions : ${list}`
  return [...errors, fieldInvalid(path, version, why)]
}

const NOT_COMMON =
  'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet'

/** It is given if and only if all servers encode in the same version. */
function checkCommonVersion(status: ValueObject, path: string): FieldError[] {
  const encodings = new Set(objectsAt(status, 'storageVersions').map(server => stringAt(server, 'encodingVersion')))
  const [actual] = encodings
  const at = `${path}.commonEncodingVersion`
  const given = stringAt(status, 'commonEncodingVersion')
  if (!has(status, 'commonEncodingVersion')) {
    return encodings.size === 1 ? [fieldInvalid(at, null, `the common encoding version is ${actual}`)] : []
  }
  if (encodings.size !== 1) return [fieldInvalid(at, given, NOT_COMMON)]
  return given === actual ? [] : [fieldInvalid(at, given, `the actual common encoding version is ${actual}`)]
}

/** The paths lack the name of the list, as kube-apiserver has them. */
function checkConditions(status: ValueObject, path: string): FieldError[] {
  const lastIndex = new Map<string, number>()
  const errors: FieldError[] = []
  for (const [i, condition] of objectsAt(status, 'conditions').entries()) {
    const at = indexPath(path, i)
    const type = stringAt(condition, 'type')
    const before = lastIndex.get(type)
    lastIndex.set(type, i)
    const why = `the type of the condition is not unique, it also appears in conditions[${before}]`
    if (before !== undefined) errors.push(fieldInvalid(`${at}.type`, type, why))
    errors.push(...checkText(type, checkQualifiedName, `${at}.type`))
    errors.push(...checkText(stringAt(condition, 'status'), checkQualifiedName, `${at}.status`))
    for (const name of ['reason', 'message']) {
      if (stringAt(condition, name) === '') errors.push(fieldRequired(`${at}.${name}`))
    }
  }
  return errors
}

const statusRule: Rule = field('status', [
  check((status, path) => {
    const servers = objectsAt(status, 'storageVersions')
    const repeated = new Set(repeatsOf(servers.map(server => stringAt(server, 'apiServerID'))))
    return servers.flatMap((server, i) => {
      const at = indexPath(`${path}.storageVersions`, i)
      const id = stringAt(server, 'apiServerID')
      const errors = checkServer(server, at)
      return repeated.has(i) ? [fieldDuplicate(`${at}.apiServerID`, id)].concat(errors) : errors
    })
  }),
  check(checkCommonVersion),
  check(checkConditions),
])

const MAX_SHOWN = 3

function serversCell(status: ValueObject): string {
  const all = objectsAt(status, 'storageVersions').map(
    server => `${stringAt(server, 'apiServerID')}=${stringAt(server, 'encodingVersion')}`,
  )
  const shown = all.slice(0, MAX_SHOWN).join(',')
  return all.length > MAX_SHOWN ? `${shown} + ${all.length - MAX_SHOWN} more...` : shown || '<unset>'
}

const apiVersion = 'internal.apiserver.k8s.io/v1alpha1'

export const storageVersion = defineKind(apiVersion, 'StorageVersion', {
  strategy: statusApart(apiVersion, 'StorageVersion', {
    prepareForStatusUpdate: statusAlone,
    allowUnconditionalUpdate: false,
  }),
  statusReset: ['metadata'],
  validation: validationRules({
    create: [metadata({ namespaced: false, name: checkName }), statusRule],
    update: [anyFinalizerUpdate],
    status: [anyFinalizerUpdate, statusRule],
  }),
  table: (object, now) => {
    const status = objectAt(object, 'status')
    const common = has(status, 'commonEncodingVersion') ? stringAt(status, 'commonEncodingVersion') : '<unset>'
    return [nameOf(object), common, serversCell(status), ageOf(object, now)]
  },
})
