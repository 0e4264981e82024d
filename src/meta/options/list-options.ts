// The options of get, list and watch, parsed from the query parameters and checked. Errors are thrown.

import type { Result } from '../../base/result.js'
import { type FieldError, fieldForbidden, fieldNotSupported } from '../errors/field-errors.js'
import { badRequest, invalid } from '../errors/status.js'
import { type FieldSelector, parseFieldSelector } from '../selectors/field-selectors.js'
import { type LabelSelector, parseLabelSelector } from '../selectors/label-selectors.js'
import { queryInteger, querySwitch, queryText } from './query.js'

export interface GetOptions {
  readonly resourceVersion: string
}

export interface ListOptions {
  readonly labelSelector: LabelSelector
  /** As given; not yet checked against the fields of the kind. */
  readonly fieldSelector: FieldSelector
  readonly watch: boolean
  readonly allowWatchBookmarks: boolean
  readonly resourceVersion: string
  readonly resourceVersionMatch: ResourceVersionMatch
  readonly timeoutSeconds?: number
  /** 0 or less: no limit. */
  readonly limit: number
  readonly continue: string
  /** Whether a watch begins with the existing objects; undefined if it starts at a version. */
  readonly sendInitialEvents?: boolean
}

export type ResourceVersionMatch = '' | 'Exact' | 'NotOlderThan'

export function parseGetOptions(query: URLSearchParams): GetOptions {
  if (querySwitch(query, 'export') === true) {
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
  }
  return { resourceVersion: queryText(query, 'resourceVersion') }
}

/** `watchList` is the feature gate of watches that begin with the objects that exist. */
export function parseListOptions(query: URLSearchParams, watchList = true): ListOptions {
  const timeoutSeconds = must(queryInteger(query, 'timeoutSeconds'))
  const limit = must(queryInteger(query, 'limit')) ?? 0
  const given: RawListOptions = {
    watch: querySwitch(query, 'watch') ?? false,
    resourceVersion: queryText(query, 'resourceVersion'),
    resourceVersionMatch: queryText(query, 'resourceVersionMatch'),
    continue: queryText(query, 'continue'),
    sendInitialEvents: querySwitch(query, 'sendInitialEvents'),
  }
  const requested = watchList ? withDefaults(given) : given
  const labelSelector = must(parseLabelSelector(queryText(query, 'labelSelector')))
  const fieldSelector = must(parseFieldSelector(queryText(query, 'fieldSelector')))
  const errors = requested.watch ? checkWatch(requested, watchList) : checkList(requested)
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors)
  const { sendInitialEvents, resourceVersionMatch, ...rest } = requested
  return {
    labelSelector,
    fieldSelector,
    ...rest,
    allowWatchBookmarks: querySwitch(query, 'allowWatchBookmarks') ?? false,
    resourceVersionMatch: resourceVersionMatch as ResourceVersionMatch, // checked above
    limit,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(sendInitialEvents === undefined ? {} : { sendInitialEvents }),
  }
}

interface RawListOptions {
  readonly watch: boolean
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly continue: string
  readonly sendInitialEvents: boolean | undefined
}

/** A watch without a version, or with 0, begins with the existing objects. */
function withDefaults(options: RawListOptions): RawListOptions {
  const isUnset = options.sendInitialEvents === undefined && options.resourceVersionMatch === ''
  const fromNow = options.resourceVersion === '' || options.resourceVersion === '0'
  if (!options.watch || !isUnset || !fromNow) return options
  return { ...options, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
}

function checkList(options: RawListOptions): FieldError[] {
  const errors: FieldError[] = []
  const match = options.resourceVersionMatch
  if (match !== '') {
    if (options.resourceVersion === '') {
      errors.push(fieldForbidden(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    }
    if (options.continue !== '') errors.push(fieldForbidden(MATCH, MATCH_WITH_CONTINUE))
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(fieldNotSupported(MATCH, match, ['Exact', 'NotOlderThan', '']))
    }
    if (match === 'Exact' && options.resourceVersion === '0') {
      errors.push(fieldForbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    }
  }
  if (options.sendInitialEvents !== undefined) {
    errors.push(fieldForbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  }
  return errors
}

function checkWatch(options: RawListOptions, watchList: boolean): FieldError[] {
  const errors: FieldError[] = []
  const match = options.resourceVersionMatch
  if (options.sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(fieldForbidden(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  }
  if (options.sendInitialEvents !== undefined && !watchList) {
    const why = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'
    errors.push(fieldForbidden('sendInitialEvents', why))
  }
  if (match === '') return errors
  if (options.sendInitialEvents === undefined) {
    const why = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
    errors.push(fieldForbidden(MATCH, why))
  }
  if (match !== 'NotOlderThan') errors.push(fieldNotSupported(MATCH, match, ['NotOlderThan']))
  if (options.continue !== '') errors.push(fieldForbidden(MATCH, MATCH_WITH_CONTINUE))
  return errors
}

const MATCH = 'resourceVersionMatch'
const MATCH_WITH_CONTINUE = 'resourceVersionMatch is forbidden when continue is provided'

/** A malformed parameter is a bad request. */
function must<T>(read: Result<T>): T {
  if (!read.ok) throw badRequest(read.error)
  return read.value
}
