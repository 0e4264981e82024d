// connect: the options are read from the query and admitted, and the subresource answers.
import { type AttributesInit, createAttributes } from '../admission/attributes.js'
import { badRequest } from '../meta/errors/status.js'
import type { ConnectResource, ConnectResult, ConnectTarget } from '../request/connect-resource.js'
import { optionsOfQuery } from '../request/query-options.js'
import { type Request, withOptions } from '../request/request.js'
import { mutate, validate } from './pipeline/admit.js'
import type { PipelineEnv } from './pipeline/pipeline-env.js'

export async function connect(
  env: PipelineEnv,
  request: Request,
  resource: ConnectResource,
  target: ConnectTarget,
): Promise<ConnectResult> {
  const { apiVersion, optionsKind, hasSubpaths, isAdmitted } = resource
  const { info } = request
  if (isAdmitted && info.query.has('dryRun')) throw badRequest('dryRun is not supported')
  const query = hasSubpaths ? new URLSearchParams({ path: subpathOf(info.rest, info.path) }) : info.query
  const sent = optionsOfQuery(apiVersion, optionsKind, query)
  if (!isAdmitted) return resource.connect({ ...target, request, options: sent })
  const attributes: AttributesInit = {
    operation: 'CONNECT',
    request: withOptions(request, { dryRun: false, fieldManager: '', fieldValidation: '' }),
    target: {
      resource: { group: info.group, resource: info.resource },
      version: info.version,
      namespace: target.namespace,
      name: target.name,
      subresource: info.subresource,
    },
    kind: { group: info.group, version: info.version, kind: optionsKind },
    object: sent,
    oldObject: undefined,
  }
  const options = (await mutate(env, attributes)) ?? sent
  await validate(env, createAttributes({ ...attributes, object: options }))
  return resource.connect({ ...target, request, options })
}

/** With a slash at its end if the path has one. */
function subpathOf(rest: readonly string[], path: string): string {
  const subpath = rest.map(segment => `/${segment}`).join('')
  return path.endsWith('/') && !subpath.endsWith('/') ? `${subpath}/` : subpath
}
