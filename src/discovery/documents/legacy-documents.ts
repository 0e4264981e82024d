// The documents of discovery as it always was, one for each step from the root down to a version: which groups there
// are, which versions they have, and which resources those serve.
import type { ValueObject } from '../../meta/values/value.js'
import type { ApiGroup, ApiVersion } from './api-groups.js'
import { resourceLine } from './listed-resources.js'

/** `/api`. All clients are told the same address, wherever they are. */
export const coreVersions = (core: ApiGroup | undefined, serverAddress: string): ValueObject => ({
  kind: 'APIVersions',
  versions: (core?.versions ?? []).map(({ name }) => name),
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
})

/** `/apis` */
export const groupList = (groups: readonly ApiGroup[]): ValueObject => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groups.map(groupMembers),
})

/** `/apis/GROUP` */
export const groupDocument = (group: ApiGroup): ValueObject => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  ...groupMembers(group),
})

/** `/api/v1` and `/apis/GROUP/VERSION`. What is about the core group carries no version of its own. */
export const resourceList = (version: ApiVersion): ValueObject => ({
  kind: 'APIResourceList',
  ...(version.group !== '' && { apiVersion: 'v1' }),
  groupVersion: version.apiVersion,
  resources: version.resources().map(resourceLine),
})

const groupMembers = ({ name, versions }: ApiGroup): ValueObject => ({
  name,
  versions: versions.map(versionLine),
  preferredVersion: versionLine(versions[0]!),
})

const versionLine = ({ apiVersion, name }: ApiVersion): ValueObject => ({ groupVersion: apiVersion, version: name })
