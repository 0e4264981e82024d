package dev.binnacle.testing;

import dev.binnacle.testing.WithBinnacle.Isolation;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Starts one server for all tests of a run, and passes it and its clients to test methods. */
public final class BinnacleExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(BinnacleExtension.class);
  private static final String FABRIC8 = "io.fabric8.kubernetes.client.KubernetesClient";
  private static final String OFFICIAL = "io.kubernetes.client.openapi.ApiClient";

  @Override
  public void beforeEach(ExtensionContext context) {
    BinnacleServer shared = sharedServer(context);
    boolean fork = isolationOf(context) == Isolation.FORK;
    if (!fork) {
      shared.clearFaults();
      shared.reset();
      shared.record();
    }
    context.getStore(NAMESPACE).put(BinnacleServer.class, fork ? shared.fork() : shared);
  }

  /** Prints the requests and the changed objects of a test that failed, and ends its copy. */
  @Override
  public void afterEach(ExtensionContext context) {
    BinnacleServer server = context.getStore(NAMESPACE).remove(BinnacleServer.class, BinnacleServer.class);
    if (server == null) {
      return;
    }
    if (context.getExecutionException().isPresent()) {
      System.err.println(context.getDisplayName() + " failed. " + server.report());
    }
    if (server != sharedServer(context)) {
      server.close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == BinnacleServer.class || type.getName().equals(FABRIC8) || type.getName().equals(OFFICIAL);
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    BinnacleServer server = context.getStore(NAMESPACE).get(BinnacleServer.class, BinnacleServer.class);
    if (server == null) {
      server = sharedServer(context);
    }
    Store store = context.getStore(NAMESPACE);
    String type = parameter.getParameter().getType().getName();
    BinnacleServer found = server;
    return switch (type) {
      // A store also has what was put into those of the class and of the run, where the server can be another.
      case FABRIC8 -> store.getOrComputeIfAbsent(type + found.url(), key -> Fabric8Client.create(found));
      case OFFICIAL -> store.getOrComputeIfAbsent(type + found.url(), key -> OfficialClient.create(found));
      default -> server;
    };
  }

  private static Isolation isolationOf(ExtensionContext context) {
    return AnnotationSupport.findAnnotation(context.getTestClass(), WithBinnacle.class)
        .map(WithBinnacle::isolation)
        .orElse(Isolation.RESET);
  }

  private static BinnacleServer sharedServer(ExtensionContext context) {
    return context.getRoot().getStore(NAMESPACE)
        .getOrComputeIfAbsent(Shared.class, key -> new Shared(BinnacleServer.start()), Shared.class)
        .server();
  }

  /** JUnit closes it at the end of the run. */
  private record Shared(BinnacleServer server) implements Store.CloseableResource {
    @Override
    public void close() {
      server.close();
    }
  }
}
