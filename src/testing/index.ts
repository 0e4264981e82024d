// `binnacle/testing`: servers for tests, which can be copied, reset and disturbed.
export type { BinnacleOptions } from '../server/index.js'
export type { PodFailure, PodReference, SimulatedPods } from '../workloads/start-workloads.js'
export type {
  ApplyOptions,
  Client,
  DeleteOptions,
  GetOptions,
  JsonPatchOperation,
  ListOptions,
  ObjectList,
  Patch,
  ResourceClient,
  Scale,
  SubresourceClient,
  WatchOptions,
  WriteOptions,
} from './client.js'
export type { TestClock } from './clock.js'
export type { ChaosOptions } from './faults/chaos.js'
export type { Fault, FaultMatch, WatchFault } from './faults/fault.js'
export type { Faults, InjectedFault } from './faults/faults.js'
export { type Fetch, type FetchInit, type Status, StatusError } from './fetch.js'
// `declare module 'binnacle/testing'` can only extend what is exported by a star.
export type * from './kinds.js'
export type { Manifest, ObjectReference } from './objects.js'
export type { RecordedExchange } from './record/exchange-log.js'
export type { TestContext } from './record/failed-test.js'
export { readRecord } from './record/record-file.js'
export type { ObjectChange, Recording } from './record/recording.js'
export type { Replay, ReplayDifference, ReplayOptions } from './record/replay.js'
export type { AnswerDifference } from './record/same-answer.js'
export type { LoggedRequest, RequestLog } from './request-log.js'
export { startBinnacle, type TestOptions } from './start-binnacle.js'
export type { TestServer } from './test-server-type.js'
export type { TestUser, TestUsers, UserOptions } from './users.js'
export type { Condition, WaitOptions } from './wait.js'
export type { Watch, WatchEvent } from './watch.js'
