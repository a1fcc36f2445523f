// SPDX-License-Identifier: Apache-2.0
// For -javaagent: gives a ZooKeeper server older than 3.9.3 the fix of ZOOKEEPER-4712. Debian 12 has 3.8.0. Its
// follower that loses its leader goes on logging what it was sent, while the log is read into its tree. A late entry
// never gets into its tree, but the follower reports to its next leader that it has it. A frozen follower is enough for
// that. Its clients then see deleted nodes, or miss some, until it is restarted. The suite does not look for that bug.
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

public final class MendedServer extends ClassVisitor implements Opcodes {
  private static final String MENDED = "org/apache/zookeeper/server/quorum/LearnerZooKeeperServer";
  private static final String SUPER = "org/apache/zookeeper/server/quorum/QuorumZooKeeperServer";
  private static final String LOG = "org/apache/zookeeper/server/SyncRequestProcessor";
  private static final String CAUGHT = "java/lang/RuntimeException";
  private static final String NAME = "shutdown";
  private static final String TYPE = "(Z)V";
  private boolean isMended;

  private MendedServer(ClassWriter writer) {
    super(ASM9, writer);
  }

  public static void premain(String unused, Instrumentation instrumentation) {
    instrumentation.addTransformer(new ClassFileTransformer() {
      @Override
      public byte[] transform(ClassLoader loader, String name, Class<?> before, ProtectionDomain domain, byte[] code) {
        return MENDED.equals(name) ? mend(code) : null;
      }
    });
  }

  private static byte[] mend(byte[] code) {
    ClassReader reader = new ClassReader(code);
    ClassWriter writer = new ClassWriter(reader, 0);
    MendedServer mended = new MendedServer(writer);
    reader.accept(mended, 0);
    return writer.toByteArray();
  }

  @Override
  public MethodVisitor visitMethod(int access, String name, String type, String signature, String[] exceptions) {
    isMended |= name.equals(NAME) && type.equals(TYPE);
    return super.visitMethod(access, name, type, signature, exceptions);
  }

  /**
   * As in Java: synchronized void shutdown(boolean fully) { if (canShutdown() &amp;&amp; syncProcessor != null) try {
   * syncProcessor.shutdown(); } catch (RuntimeException e) {} super.shutdown(fully); }. It catches ZOOKEEPER-4409:
   * the connection to the leader is already gone; the exception would end the server.
   */
  @Override
  public void visitEnd() {
    if (!isMended) {
      MethodVisitor method = super.visitMethod(ACC_PUBLIC | ACC_SYNCHRONIZED, NAME, TYPE, null, null);
      Label begin = new Label();
      Label end = new Label();
      Label caught = new Label();
      Label rest = new Label();
      method.visitCode();
      method.visitTryCatchBlock(begin, end, caught, CAUGHT);
      method.visitVarInsn(ALOAD, 0);
      method.visitMethodInsn(INVOKEVIRTUAL, MENDED, "canShutdown", "()Z", false);
      method.visitJumpInsn(IFEQ, rest);
      method.visitVarInsn(ALOAD, 0);
      method.visitFieldInsn(GETFIELD, MENDED, "syncProcessor", "L" + LOG + ";");
      method.visitJumpInsn(IFNULL, rest);
      method.visitLabel(begin);
      method.visitVarInsn(ALOAD, 0);
      method.visitFieldInsn(GETFIELD, MENDED, "syncProcessor", "L" + LOG + ";");
      method.visitMethodInsn(INVOKEVIRTUAL, LOG, NAME, "()V", false);
      method.visitLabel(end);
      method.visitJumpInsn(GOTO, rest);
      method.visitLabel(caught);
      method.visitFrame(F_SAME1, 0, null, 1, new Object[] {CAUGHT});
      method.visitInsn(POP);
      method.visitLabel(rest);
      method.visitFrame(F_SAME, 0, null, 0, null);
      method.visitVarInsn(ALOAD, 0);
      method.visitVarInsn(ILOAD, 1);
      method.visitMethodInsn(INVOKESPECIAL, SUPER, NAME, TYPE, false);
      method.visitInsn(RETURN);
      method.visitMaxs(2, 2);
      method.visitEnd();
    }
    super.visitEnd();
  }
}
