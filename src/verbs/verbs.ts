// The verbs as http sees them: a request, its target, its query parameters and its body go in, a result comes out. The
// parameters are parsed here into the options of the verb; what the verb does is in its own file.

import type { Awaitable } from '../base/awaitable.js'
import { decodeCbor } from '../codec/cbor.js'
import { CodecError } from '../codec/codec-error.js'
import { decodeJson } from '../codec/json.js'
import { decodeYaml } from '../codec/yaml.js'
import { resourceOf } from '../kinds/kind-names.js'
import { badRequest, methodNotSupported, unsupportedMediaType } from '../meta/errors/status.js'
import { parseGetOptions, parseListOptions } from '../meta/options/list-options.js'
import {
  checkDeleteCollectionOptions,
  type DeleteOptions,
  IGNORE_READ_ERRORS,
  parseCreateOptions,
  parseDeleteOptions,
  parsePatchOptions,
  parseUpdateOptions,
} from '../meta/options/write-options.js'
import { isObject, type Value } from '../meta/values/value.js'
import { selectionOf } from '../objects/selection.js'
import { BODY_TYPES, type Body } from '../request/body.js'
import type { ConnectResource, ConnectResult, ConnectTarget } from '../request/connect-resource.js'
import { forResource, type Request, withOptions } from '../request/request.js'
import { type Target } from '../request/target.js'
import type { VirtualResource, VirtualResult, VirtualTarget } from '../request/virtual-resource.js'
import { decodeDeleteOptions } from '../types/delete-options.js'
import { decodeObject, openEnvelope, ProtobufError } from '../types/protobuf.js'
import type { Types } from '../types/type.js'
import { type ApiContext } from './api-context.js'
import { connect } from './connect.js'
import { createVirtual } from './create-virtual.js'
import { getComputed, listComputed } from './read/computed.js'
import { getObject } from './read/get.js'
import { listObjects } from './read/list.js'
import { type PreparedWatch, prepareWatch } from './read/watch.js'
import type { ListResult, Result } from './result.js'
import { applyScale, getScale, patchScale, updateScale } from './subresources/scale.js'
import { applyObject } from './write/apply.js'
import { createObject } from './write/create.js'
import { deleteObject } from './write/delete.js'
import { deleteCollection } from './write/delete-collection.js'
import { patchObject } from './write/patch.js'
import { APPLY_TYPES, PATCH_KINDS, patchTypesOf } from './write/patch-types.js'
import { updateObject } from './write/update.js'

/** Errors are thrown, as StatusErrors. */
export interface Verbs {
  get(request: Request, target: Target, query: URLSearchParams): Awaitable<Result>
  list(request: Request, target: Target, query: URLSearchParams): Awaitable<ListResult>
  /** Checks what it can before the watch begins. */
  watch(request: Request, target: Target, query: URLSearchParams): Promise<PreparedWatch>
  create: Write
  update: Write
  /** The media type of the body is the type of the patch. */
  patch: Write
  /** If the body is empty, the options are those of the query. */
  delete: Write
  deleteCollection: Write
  createVirtual(
    request: Request,
    resource: VirtualResource,
    target: VirtualTarget,
    query: URLSearchParams,
    body: Body,
  ): Promise<VirtualResult>
  /** The options are those of the query. */
  connect(request: Request, resource: ConnectResource, target: ConnectTarget): Promise<ConnectResult>
}

export type Write = (request: Request, target: Target, query: URLSearchParams, body: Body) => Promise<Result>

export function createVerbs(context: ApiContext): Verbs {
  const { watchList } = context.gates
  return {
    get(request, target, query) {
      const { computed } = target.kind
      if (computed) return getComputed(computed, target)
      const get = target.subresource === 'scale' ? getScale : getObject
      return get(context, forResource(request, target, parseGetOptions(query)))
    },
    list(request, target, query) {
      const options = parseListOptions(query, watchList)
      const { computed } = target.kind
      return computed
        ? listComputed(computed, target, options)
        : listObjects(context, forResource(request, target, options))
    },
    async watch(request, target, query) {
      if (target.kind.computed) throw methodNotSupported(resourceOf(target.kind), 'watch')
      return prepareWatch(context, forResource(request, target, parseListOptions(query, watchList)))
    },
    create: async (request, target, query, body) =>
      createObject(context, forResource(request, target, parseCreateOptions(query)), body),
    async update(request, target, query, body) {
      const write = target.subresource === 'scale' ? updateScale : updateObject
      return write(context, forResource(request, target, parseUpdateOptions(query)), body)
    },
    async patch(request, target, query, body) {
      const kind = PATCH_KINDS[body.mediaType]
      if (kind) {
        const write = target.subresource === 'scale' ? patchScale : patchObject
        return write(context, forResource(request, target, parsePatchOptions(query, false)), kind, body.bytes)
      }
      if (APPLY_TYPES.includes(body.mediaType)) {
        const apply = target.subresource === 'scale' ? applyScale : applyObject
        return apply(context, forResource(request, target, parsePatchOptions(query, true)), body)
      }
      throw unsupportedMediaType(patchTypesOf(target))
    },
    delete: async (request, target, query, body) =>
      deleteObject(context, forResource(request, target, readDeleteOptions(context, target, query, body))),
    async deleteCollection(request, target, query, body) {
      const listOptions = parseListOptions(query, watchList)
      // Selectors are refused before the body is read.
      selectionOf(target.version, listOptions)
      const options = readDeleteOptions(context, target, query, body)
      checkDeleteCollectionOptions(options)
      return deleteCollection(context, forResource(request, target, options), listOptions)
    },
    createVirtual: async (request, resource, target, query, body) =>
      createVirtual(context, withOptions(request, parseCreateOptions(query)), resource, target, body),
    connect: (request, resource, target) => connect(context, request, resource, target),
  }
}

/** Without its feature gate, the option to delete what cannot be read is ignored. */
function readDeleteOptions(
  { gates }: ApiContext,
  { version }: Target,
  query: URLSearchParams,
  body: Body,
): DeleteOptions {
  if (body.bytes.length === 0) return parseDeleteOptions(gates.unsafeDeletion ? query : withoutOption(query))
  const options = decodeOptions(version.type.types, body)
  if (!gates.unsafeDeletion && isObject(options)) delete options[IGNORE_READ_ERRORS]
  return decodeDeleteOptions(options)
}

function withoutOption(query: URLSearchParams): URLSearchParams {
  if (!query.has(IGNORE_READ_ERRORS)) return query
  const rest = new URLSearchParams(query)
  rest.delete(IGNORE_READ_ERRORS)
  return rest
}

const NO_TYPE_IN_JSON = "couldn't get version/kind; json parse error: "
const NO_TYPE_IN_CBOR = 'unable to determine group/version/kind: '

function decodeOptions(types: Types, { bytes, mediaType, accepted = BODY_TYPES }: Body): Value {
  try {
    switch (mediaType) {
      case '':
      case 'application/json':
        return decodeJson(bytes).value
      case 'application/yaml':
        return decodeYaml(bytes).value
      case 'application/cbor':
        return decodeCbor(bytes).value
      case 'application/vnd.kubernetes.protobuf': {
        const defaults = { apiVersion: 'v1', kind: 'DeleteOptions' }
        return decodeObject(types, openEnvelope(bytes), defaults)
      }
      default:
        throw unsupportedMediaType(accepted)
    }
  } catch (error) {
    if (error instanceof ProtobufError) throw badRequest(error.message)
    if (!(error instanceof CodecError)) throw error
    const isJson = mediaType === '' || mediaType === 'application/json'
    throw badRequest(
      `${isJson ? NO_TYPE_IN_JSON : mediaType === 'application/cbor' ? NO_TYPE_IN_CBOR : ''}${error.message}`,
    )
  }
}
