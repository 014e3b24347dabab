#include "clang/driver_types.h"

#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <array>
#include <string>

#include "clang/unit.h"

namespace tomos::cpp {

using clang::QualType;

namespace {

const clang::CXXRecordDecl* std_class(QualType type) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record != nullptr && is_of_std(*record) ? record : nullptr;
}

std::string std_name(QualType type) {
  const clang::CXXRecordDecl* record = std_class(type);
  return record == nullptr ? "" : record->getNameAsString();
}

// "pthread_t", however often it was given another name.
bool is_alias(QualType type, std::string_view name) {
  while (const auto* alias = type->getAs<clang::TypedefType>()) {
    if (alias->getDecl()->getName() == llvm::StringRef(name.data(), name.size())) return true;
    type = alias->desugar();
  }
  return false;
}

const clang::TemplateArgument* first_argument(QualType type) {
  const auto* made =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(std_class(type));
  return made == nullptr || made->getTemplateArgs().size() == 0 ? nullptr
                                                                : &made->getTemplateArgs()[0];
}

QualType argument_type(QualType type) {
  const clang::TemplateArgument* first = first_argument(type);
  return first == nullptr || first->getKind() != clang::TemplateArgument::Type ? QualType()
                                                                               : first->getAsType();
}

}  // namespace

bool is_lock_type(QualType type) {
  const std::string name = std_name(type);
  return name == "mutex" || name == "timed_mutex" || is_recursive_lock(type) ||
         is_alias(type, "pthread_mutex_t") || is_alias(type, "pthread_spinlock_t");
}

bool is_recursive_lock(QualType type) {
  const std::string name = std_name(type);
  return name == "recursive_mutex" || name == "recursive_timed_mutex";
}

bool is_condition_type(QualType type) {
  return std_name(type).starts_with("condition_variable") || is_alias(type, "pthread_cond_t");
}

bool is_thread_type(QualType type) {
  const std::string name = std_name(type);
  return name == "thread" || name == "jthread" || is_future_type(type) ||
         is_alias(type, "pthread_t");
}

bool is_future_type(QualType type) {
  const std::string name = std_name(type);
  return name == "future" || name == "__basic_future";  // libstdc++'s base has wait()
}

bool is_joined_at_end(QualType type) {
  return !type.isNull() && (std_name(type) == "jthread" || is_future_type(type));
}

bool is_flag_type(QualType type) { return std_name(type) == "atomic_flag"; }

bool is_atomic_type(QualType type) {
  const std::string name = std_name(type);
  return name == "atomic" || name == "__atomic_base" || name == "atomic_flag" ||
         type->isAtomicType();
}

bool is_smart_pointer(QualType type) {
  const std::string name = std_name(type);
  return name == "unique_ptr" || name == "shared_ptr" || name == "reference_wrapper";
}

bool is_function_object(QualType type) {
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return std_name(type) == "function" || (record != nullptr && record->isLambda());
}

bool is_unknown_meeting(QualType type) {
  const std::string name = std_name(type);
  return name == "packaged_task" || name == "shared_future";
}

bool is_of_cpp(QualType type) { return std_class(type) != nullptr; }

Meeting meeting_of(QualType type) {
  const std::string name = std_name(type);
  if (name == "shared_mutex" || name == "shared_timed_mutex" ||
      is_alias(type, "pthread_rwlock_t")) {
    return Meeting::kSharedLock;
  }
  if (name == "counting_semaphore" || is_alias(type, "sem_t")) return Meeting::kSemaphore;
  if (name == "latch") return Meeting::kLatch;
  if (name == "barrier" || is_alias(type, "pthread_barrier_t")) return Meeting::kBarrier;
  if (name == "promise") return Meeting::kPromise;
  const bool is_once = name == "once_flag" || is_alias(type, "pthread_once_t");
  return is_once ? Meeting::kOnce : Meeting::kNone;
}

bool is_any_lock_type(QualType type) {
  return is_lock_type(type) || meeting_of(type) == Meeting::kSharedLock;
}

std::string_view guard_type(QualType type) {
  if (type->isReferenceType()) return {};
  const std::string name = std_name(type);
  for (const std::string_view kind : {"lock_guard", "unique_lock", "scoped_lock", "shared_lock"}) {
    if (name == kind) return kind;
  }
  return {};
}

QualType without_atomic(QualType type) {
  if (const auto* atomic = type->getAs<clang::AtomicType>()) return atomic->getValueType();
  if (std_name(type) != "atomic") return type;
  const QualType inside = argument_type(type);
  return inside.isNull() ? type : inside;
}

QualType contained_type(QualType type) {
  if (const auto* array = type->getAsArrayTypeUnsafe()) return array->getElementType();
  const std::string name = std_name(type);
  return name == "vector" || name == "array" || name == "initializer_list" ? argument_type(type)
                                                                           : QualType();
}

std::optional<std::uint64_t> array_size(QualType type, const clang::ASTContext& context) {
  if (const auto* array = context.getAsConstantArrayType(type)) {
    return array->getSize().getZExtValue();
  }
  const auto* made =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(std_class(type));
  if (made == nullptr || made->getNameAsString() != "array" || made->getTemplateArgs().size() < 2) {
    return std::nullopt;
  }
  const clang::TemplateArgument& size = made->getTemplateArgs()[1];
  if (size.getKind() != clang::TemplateArgument::Integral) return std::nullopt;
  return size.getAsIntegral().getZExtValue();
}

}  // namespace tomos::cpp
