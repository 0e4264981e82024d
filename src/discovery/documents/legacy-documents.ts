// The documents of unaggregated discovery: the groups, the versions of a group, and the resources of a version.
import type { ValueObject } from '../../meta/values/value.js'
import type { ApiGroup, ApiVersion } from './api-groups.js'
import { apiResource } from './listed-resources.js'

/** `/api`. The same address for all clients. */
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

/** `/api/v1` and `/apis/GROUP/VERSION`. The list of the core group has no apiVersion. */
export const resourceList = (version: ApiVersion, hasHashes: boolean): ValueObject => ({
  kind: 'APIResourceList',
  ...(version.group !== '' && { apiVersion: 'v1' }),
  groupVersion: version.apiVersion,
  resources: version.resources().map(each => apiResource(each, hasHashes)),
})

const groupMembers = ({ name, versions }: ApiGroup): ValueObject => ({
  name,
  versions: versions.map(versionEntry),
  preferredVersion: versionEntry(versions[0]!),
})

const versionEntry = ({ apiVersion, name }: ApiVersion): ValueObject => ({ groupVersion: apiVersion, version: name })
