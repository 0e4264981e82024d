// gRPC to processes on this machine: messages, their methods, and calls over a Unix socket.
export { GrpcCode, GrpcError } from './etcd/client/grpc.js'
export { type Method, message, messageTypes } from './etcd/client/message-types.js'
export * from './grpc/codes.js'
export * from './grpc/socket-client.js'
